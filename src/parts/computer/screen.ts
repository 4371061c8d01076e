// The screen as the model sees it: an image that is never larger than models look at, and the way between its pixels
// and those of the display. Programs that people have installed take the picture; the first one that is there is used.

import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';
import { type Ran, run } from './x11.ts';

/** Pixels of the longer side; models make larger images smaller before they look. */
const MAX_SIDE = 1366;

/** Providers refuse images above 5 MB in base64. */
const MAX_IMAGE_BYTES = 3_500_000;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Screen {
  readonly display: Size;
  /** Never larger than the display. */
  readonly image: Size;
}

export interface Picture {
  readonly data: string;
  readonly mimeType: 'image/png' | 'image/jpeg';
  readonly path: string;
}

export function screenOf(display: Size): Screen {
  const scale = Math.min(1, MAX_SIDE / Math.max(display.width, display.height));
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { display, image: { width: side(display.width), height: side(display.height) } };
}

/** Throws `ToolFailure` for what lies outside of the image. */
export function onDisplay({ x, y }: Point, { display, image }: Screen): Point {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height)
    throw new ToolFailure(
      `[${x}, ${y}] is outside of the screen, which is ${image.width} by ${image.height} pixels here.`,
    );
  return {
    x: middle(x, display.width / image.width),
    y: middle(y, display.height / image.height),
  };
}

export function onImage({ x, y }: Point, { display, image }: Screen): Point {
  return {
    x: middle(x, image.width / display.width),
    y: middle(y, image.height / display.height),
  };
}

/** The middle of a pixel, so that what is seen is what is hit, and the way back ends where it began. */
function middle(pixel: number, scale: number): number {
  return Math.floor((pixel + 0.5) * scale);
}

interface Photographer {
  readonly program: string;
  /** Whether it can make the image smaller, and a JPEG of it. */
  readonly scales: boolean;
  args(path: string, resize: string | undefined): readonly string[];
}

const IMAGEMAGICK = (path: string, resize: string | undefined) => [
  '-silent',
  '-window',
  'root',
  ...(resize === undefined ? [] : ['-resize', resize]),
  ...(path.endsWith('.jpg') ? ['-quality', '80'] : []),
  path,
];

const PHOTOGRAPHERS: readonly Photographer[] = [
  { program: 'import', scales: true, args: IMAGEMAGICK },
  { program: 'magick', scales: true, args: (path, resize) => ['import', ...IMAGEMAGICK(path, resize)] },
  { program: 'maim', scales: false, args: (path) => ['--hidecursor', path] },
  { program: 'scrot', scales: false, args: (path) => ['--overwrite', path] },
];

/** Throws `ToolFailure` that says what to install where nothing can take it. */
export async function takePicture(screen: Screen, context: ToolContext): Promise<Picture> {
  const path = `${await context.scratch()}/screenshot.png`;
  const { display, image } = screen;
  const resize = image.width < display.width ? `${image.width}x${image.height}!` : undefined;
  for (const one of PHOTOGRAPHERS) {
    if (resize !== undefined && !one.scales) continue;
    const ran = await photograph(one, path, resize, context);
    if (ran === undefined) continue;
    const bytes = await context.files.read(path);
    if (bytes.length <= MAX_IMAGE_BYTES) return { data: base64(bytes), mimeType: 'image/png', path };
    if (one.scales) return smallPicture(one, path.replace(/png$/, 'jpg'), resize, context);
  }
  throw new ToolFailure(
    'No program here can take a picture of the screen: install ImageMagick (`apt-get install imagemagick`).',
  );
}

async function smallPicture(
  one: Photographer,
  path: string,
  resize: string | undefined,
  context: ToolContext,
): Promise<Picture> {
  await photograph(one, path, resize, context);
  const bytes = await context.files.read(path);
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolFailure(`The picture has ${bytes.length} bytes; at most ${MAX_IMAGE_BYTES} can be shown.`);
  return { data: base64(bytes), mimeType: 'image/jpeg', path };
}

/** Undefined when the program is not installed. */
async function photograph(
  { program, args }: Photographer,
  path: string,
  resize: string | undefined,
  context: ToolContext,
): Promise<Ran | undefined> {
  const ran = await run([program, ...args(path, resize)], context);
  if (ran === undefined) return undefined;
  if (ran.exitCode !== 0)
    throw new ToolFailure(`${program} could not take a picture of the screen: ${ran.complaint}`);
  return ran;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

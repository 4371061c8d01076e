// What stands in the frames of a page, which the accessibility tree of the page itself leaves out.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Browser } from './browser.ts';
import { listIn, objectIn } from './dev-tools.ts';
import type { Frames } from './snapshot.ts';

/** Frames that are read; pages hold more of them than anybody looks at. */
const MAX_FRAMES = 30;

/** By the element that holds the frame. One of another site lives in another process, and is not among them. */
export async function readFrames(browser: Browser): Promise<Frames> {
  const { frameTree } = await browser.send('Page.getFrameTree');
  const frames = new Map<string, unknown>();
  for (const frameId of framesBelow(objectIn(frameTree)).slice(0, MAX_FRAMES)) {
    try {
      const { backendNodeId } = await browser.send('DOM.getFrameOwner', { frameId });
      const { nodes } = await browser.send('Accessibility.getFullAXTree', { frameId });
      frames.set(String(backendNodeId), nodes);
    } catch (error) {
      // It has gone meanwhile, or is not to be read from here.
      if (!(error instanceof ToolFailure)) throw error;
    }
  }
  return frames;
}

function framesBelow(tree: JsonObject): readonly string[] {
  return listIn(tree['childFrames']).flatMap((child) => [
    String(objectIn(child['frame'])['id']),
    ...framesBelow(child),
  ]);
}

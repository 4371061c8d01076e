// The tools of a browser. Few conversations need one, so a model is sent none of them until it has looked for them, and
// what they do is loaded with the first call.

import type { JsonObject } from '../../core/schema.ts';
import type { CallPlan, Tool } from '../../core/tool.ts';
import type { BrowserOptions, Browsers } from './browsers.ts';
import { BROWSER_TOOLS, type BrowserToolText } from './tool-texts.ts';

export function createBrowserTools(options: BrowserOptions): readonly Tool[] {
  let made: Promise<Browsers> | undefined;
  const browsers = () => {
    made ??= import('./browsers.ts').then(({ createBrowsers }) => createBrowsers(options));
    return made;
  };
  return BROWSER_TOOLS.map((text) => toolOf(text, browsers));
}

function toolOf(text: BrowserToolText, browsers: () => Promise<Browsers>): Tool {
  const { name, aliases = [], description, properties, required = [] } = text;
  return {
    name,
    aliases,
    source: 'builtin',
    description,
    isDeferred: true,
    input: { type: 'object', properties, required },
    plan: async (input) => planOf(text, input),
    show: async (input) => ({ kind: 'markdown', text: shown(text, input) }),
    run: async (input, context) => {
      const { runBrowserTool } = await import('./run-tool.ts');
      return runBrowserTool(name, input, { browsers: await browsers(), context });
    },
  };
}

function planOf({ touches }: BrowserToolText, { url }: JsonObject): CallPlan {
  if (touches === 'network')
    return { access: { kind: 'network', url: String(url) }, parallel: false, repeatable: false };
  const access =
    touches === 'page'
      ? ({
          kind: 'external',
          server: 'browser',
          does: 'acts on the page that is open in the browser',
        } as const)
      : ({ kind: 'none' } as const);
  return { access, parallel: false, repeatable: false };
}

/** What the person who is asked should see: scripts and texts whole. */
function shown({ name, properties }: BrowserToolText, input: JsonObject): string {
  const given = Object.keys(properties).flatMap((key) =>
    input[key] === undefined ? [] : [`${key}: ${String(input[key])}`],
  );
  return [name, ...given].join('\n');
}

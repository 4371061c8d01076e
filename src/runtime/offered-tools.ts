// The tools of a run: what may be called, and what of it the model is sent. A deferred tool is sent from the moment
// that something offered it, and for the rest of the session; any tool that may be called is run when it is called.

import type { ToolSchema } from '../core/model.ts';
import type { Tool, ToolDirectory } from '../core/tool.ts';
import type { Catalogue } from './catalogue.ts';
import type { Conversation } from './conversation.ts';

export interface OfferedTools {
  /** What the next request sends. The same value until something is offered: caches live on it. */
  schemas(): readonly ToolSchema[];
  readonly byName: ReadonlyMap<string, Tool>;
  readonly directory: ToolDirectory;
  /** Sends a tool from the next request on; false where it is sent already. */
  introduce(name: string): boolean;
}

export interface OfferedToolsOptions {
  readonly conversation: Pick<Conversation, 'offered' | 'offer'>;
  readonly catalogue: Catalogue;
  /** The tool that ends the run. */
  readonly ending?: Tool;
}

export function offeredTools({ conversation, catalogue, ending }: OfferedToolsOptions): OfferedTools {
  const own = ending === undefined ? [] : [ending];
  const first = new Set(catalogue.shown);
  const isOffered = (tool: Tool) => first.has(tool) || conversation.offered.has(tool.name);
  const offer = (names: readonly string[]) => {
    const more = catalogue.tools.filter((tool) => names.includes(tool.name) && !isOffered(tool));
    conversation.offer(more.map(({ name }) => name));
    return more.length > 0;
  };
  let sent = -1;
  let schemas: readonly ToolSchema[] = [];
  return {
    schemas() {
      if (sent === conversation.offered.size) return schemas;
      sent = conversation.offered.size;
      // Those that came later stand last, so that what a provider has cached of the list still holds.
      const found = [...conversation.offered].flatMap((name) =>
        catalogue.tools.filter((tool) => tool.name === name && !first.has(tool)),
      );
      schemas = [...catalogue.shown, ...own, ...found].map(({ name, description, input }) => ({
        name,
        description,
        input,
      }));
      return schemas;
    },
    byName: own.length === 0 ? catalogue.toolsByName : new Map([...catalogue.toolsByName, ...own.map(named)]),
    directory: {
      list: () =>
        catalogue.tools.map((tool) => {
          const { name, aliases = [], description, keywords = [], input } = tool;
          return { name, aliases, description, keywords, input, isOffered: isOffered(tool) };
        }),
      offer: (names) => void offer(names),
    },
    introduce: (name) => offer([name]),
  };
}

function named(tool: Tool): [string, Tool] {
  return [tool.name, tool];
}

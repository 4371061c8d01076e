// Language servers as an extension: the tool that asks them, and their word on what was just edited. Nothing of it is
// loaded before somebody asks, or, where a person's settings say so, edits.

import type { Extension } from '../../core/extension.ts';
import type { LspServerSettings } from '../../core/settings.ts';
import type { WatchFiles } from '../../core/watch.ts';
import type { LspCalls } from './lsp-calls.ts';
import { createLspTool } from './lsp-tool.ts';

export interface LspOptions {
  readonly watch: WatchFiles;
  readonly settings?: Readonly<Record<string, LspServerSettings>> | undefined;
}

export function createLsp({ watch, settings = {} }: LspOptions): Extension {
  const startsOnEdit = Object.values(settings).some((one) => one.startOnEdit === true);
  let loaded: Promise<LspCalls> | undefined;
  const load = () => {
    loaded ??= import('./lsp-calls.ts').then((module) => new module.LspCalls(watch, settings));
    return loaded;
  };
  return {
    name: 'lsp',
    tools: async () => [createLspTool(load)],
    afterCall: async (call, output, context) => {
      if (loaded === undefined && !startsOnEdit) return undefined;
      return (await load()).after(call, output, context);
    },
    close: async (identity) => (await loaded)?.close(identity),
  };
}

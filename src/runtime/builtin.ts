// The extensions that every Crab has. They come through the same door as a person's own.

import type { Documents } from '../core/document.ts';
import type { Extension } from '../core/extension.ts';
import type { Files } from '../core/host.ts';
import type { SessionSearch } from '../core/search.ts';
import type { Settings } from '../core/settings.ts';
import type { Tool } from '../core/tool.ts';
import type { WatchFiles } from '../core/watch.ts';
import { delegateTool } from '../parts/agents/delegate-tool.ts';
import type { Events } from '../parts/agents/event-tools.ts';
import { createBrowserTools } from '../parts/browser/browser-tools.ts';
import type { BrowserOptions } from '../parts/browser/browsers.ts';
import { createComputerTool, type Desktop } from '../parts/computer/computer-tool.ts';
import { createConfigTool } from '../parts/configure/config-tool.ts';
import { toolSearchTool } from '../parts/discover/tool-search.ts';
import { createFileTools } from '../parts/files/file-tools.ts';
import { createLsp } from '../parts/lsp/lsp.ts';
import { createMemoryTools } from '../parts/memory/memory-tools.ts';
import type { MemoryRanking } from '../parts/memory/ranking.ts';
import type { Memories } from '../parts/memory/scopes.ts';
import { askUserTool } from '../parts/person/ask-user.ts';
import { briefTool, sendUserFileTool } from '../parts/person/notify-tools.ts';
import { setTitleTool } from '../parts/person/set-title.ts';
import { createPlanTools } from '../parts/plan/plan-tools.ts';
import { createRemoteTool, type RemoteOptions } from '../parts/remote/remote-trigger.ts';
import { type Crons, createCronTools } from '../parts/schedule/cron-tools.ts';
import { createWakeupTool, type Wakeups } from '../parts/schedule/wakeups.ts';
import { createSearchTool } from '../parts/search/search-tool.ts';
import { createShellTools } from '../parts/shell/shell-tools.ts';
import { createTaskTools } from '../parts/tasks/task-tools.ts';
import { createTodoTool } from '../parts/todo/todo-tool.ts';
import { createWebTools, type WebOptions } from '../parts/web/web-tools.ts';
import type { Presence } from '../parts/worktree/copies.ts';
import { createWorktreeTools } from '../parts/worktree/worktree-tools.ts';
import { builtinCommands } from './commands.ts';
import { jobCommands } from './job-commands.ts';
import { rewindCommands } from './rewind-commands.ts';
import { snipTool } from './snip-tool.ts';

export interface BuiltinOptions {
  /** Absent where there is no bus. */
  readonly events?: Events | undefined;
  readonly memories: Memories;
  readonly memoryRanking?: MemoryRanking | undefined;
  readonly search: SessionSearch;
  readonly work: WorkOptions;
  /** Language servers, as the person has set them. */
  readonly lsp?: Settings['lsp'];
  /** The shell of commands, as the person has set it. */
  readonly shell?: Settings['shell'];
  readonly desktop: Desktop;
  readonly documents: Documents;
  readonly web: WebOptions;
  readonly browser: BrowserOptions;
  readonly remote: RemoteOptions;
}

/** What the tools about the work itself need. Paths are absolute. */
export interface WorkOptions {
  readonly planFolder: string;
  /** Crab's own, for its own files. */
  readonly files: Files;
  readonly worktreeFolder: string;
  readonly presence: Presence;
  readonly settings: Parameters<typeof createConfigTool>[0];
  readonly crons: Crons;
  /** Absent where no conversation stays open. */
  readonly wakeups?: Wakeups | undefined;
}

/** The order is the order in which the model sees the tools. */
export function builtinExtensions(options: BuiltinOptions): readonly Extension[] {
  const { memories, search, work, lsp, shell, desktop, documents, web, browser, remote, events } = options;
  const remembered = [...createMemoryTools(memories, options.memoryRanking), createSearchTool(search)];
  const shells = createShellTools({ ...shell, isWindows: desktop.platform === 'win32' });
  const reach = [
    ...createWebTools(web),
    ...createBrowserTools(browser),
    createComputerTool(desktop),
    createRemoteTool(remote),
  ];
  const tools = [...createFileTools({ documents }), ...shells, ...reach, ...remembered];
  return [
    { name: 'tools', tools: async () => tools },
    { name: 'work', tools: async () => workTools(work) },
    ...(events === undefined ? [] : [eventExtension(events)]),
    createLsp({ settings: lsp, watch: watchFiles }),
    builtinCommands,
    rewindCommands,
    jobCommands,
  ];
}

function eventExtension(events: Events): Extension {
  return {
    name: 'events',
    tools: async () => (await import('../parts/agents/event-tools.ts')).createEventTools(events),
  };
}

/** Loaded with the first language server. */
const watchFiles: WatchFiles = async (request, signal) =>
  (await import('../parts/files/watch.ts')).createWatchFiles()(request, signal);

function workTools({
  planFolder,
  files,
  worktreeFolder,
  presence,
  settings,
  crons,
  wakeups,
}: WorkOptions): readonly Tool[] {
  return [
    createTodoTool(),
    askUserTool,
    ...createPlanTools(planFolder, files),
    delegateTool,
    toolSearchTool,
    ...createTaskTools(),
    briefTool,
    sendUserFileTool,
    setTitleTool,
    snipTool,
    createConfigTool(settings),
    ...createCronTools(crons),
    createWakeupTool(wakeups),
    ...createWorktreeTools({ folder: worktreeFolder, files, presence }),
  ];
}

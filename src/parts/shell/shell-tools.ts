// The tools that run commands and look after those that run, in the order in which a model sees them.

import type { ShellSettings } from '../../core/settings.ts';
import type { Tool } from '../../core/tool.ts';
import { createPowershellTool } from './powershell-tool.ts';
import { Readings } from './readings.ts';
import { createShellTool } from './shell-tool.ts';
import { createTaskTools } from './task-tools.ts';
import { createMonitorTool, createSleepTool } from './waiting-tools.ts';

export interface ShellToolsOptions extends ShellSettings {
  /** `powershell` is for Windows alone. */
  readonly isWindows?: boolean;
}

export function createShellTools(options: ShellToolsOptions = {}): readonly Tool[] {
  const readings = new Readings();
  const monitor = createMonitorTool({ readings, shell: options });
  return [
    createShellTool(options),
    ...(options.isWindows === true ? [createPowershellTool()] : []),
    ...createTaskTools(readings),
    monitor,
    createSleepTool(),
  ];
}

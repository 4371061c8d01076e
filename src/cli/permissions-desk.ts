// The permission gate without a conversation: what would be decided on a call in a folder, under the rules that hold
// there. One gate for each folder, since a stream of questions is mostly about one.

import type { GateRequest, PermissionMode } from '../core/permission.ts';
import type { JsonObject } from '../core/schema.ts';
import type { Tool } from '../core/tool.ts';
import { planCall } from '../engine/call.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { createGate, type PermissionGate } from '../parts/permissions/gate.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { type Policy, type PolicyOptions, policyOf } from './policy.ts';

export interface Workplace {
  readonly cwd: string;
  readonly policy: Policy;
  readonly gate: PermissionGate;
}

export interface Desk {
  /** Throws `CrabError` as `policyOf` does. */
  at(cwd: string): Promise<Workplace>;
  command(command: string, place: Workplace, mode?: PermissionMode): GateRequest;
  /** Throws an `Error` that says why the call cannot be made. */
  call(tool: string, input: JsonObject, place: Workplace, mode?: PermissionMode): Promise<GateRequest>;
}

export interface DeskOptions extends Omit<PolicyOptions, 'cwd'> {
  /** Folders of the command line; absolute. */
  readonly directories: readonly string[];
}

export function createDesk(options: DeskOptions): Desk {
  const { env, directories } = options;
  const files = createLocalFiles();
  const places = new Map<string, Promise<Workplace>>();
  let tools: Promise<ReadonlyMap<string, Tool>> | undefined;

  const open = async (cwd: string): Promise<Workplace> => {
    const policy = await policyOf({ ...options, cwd });
    const gate = createGate({
      cwd,
      directories: [...directories, ...policy.directories],
      rules: policy.rules,
      resolve: (path) => files.resolve(path),
      home: homeFolder(env),
      guarded: [crabHome(env)],
    });
    return { cwd, policy, gate };
  };
  return {
    at(cwd) {
      const known = places.get(cwd) ?? open(cwd);
      places.set(cwd, known);
      return known;
    },
    command: (command, { cwd, policy }, mode = policy.mode) => ({
      tool: 'bash',
      input: { command },
      access: { kind: 'command', command, cwd },
      mode,
    }),
    async call(name, input, { cwd, policy }, mode = policy.mode) {
      const elsewhere = accessOfOthers(name, input);
      if (elsewhere !== undefined) return { tool: name, input, access: elsewhere, mode };
      tools ??= toolsByName(env);
      const tool = (await tools).get(name.toLowerCase());
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      const identity = { agent: '', sender: '', session: '', cwd, mode };
      const call = { type: 'toolCall', id: 'explained', name: tool.name, arguments: input } as const;
      const planned = await planCall(call, {
        tools: new Map([[tool.name, tool]]),
        identity: () => identity,
      });
      if ('failure' in planned) throw new Error(planned.failure);
      return { tool: tool.name, input: planned.input, access: planned.plan.access, mode };
    },
  };
}

/** Tools of servers are not asked for their plans here: no server is started for a question. */
function accessOfOthers(name: string, input: JsonObject): GateRequest['access'] | undefined {
  const server = /^mcp__(.+?)__/.exec(name)?.[1];
  if (server !== undefined) return { kind: 'external', server };
  if (!/^(?:agent|task)$/i.test(name)) return undefined;
  const agent = input['subagent_type'] ?? input['agent'] ?? 'general-purpose';
  return { kind: 'spawn', agent: String(agent) };
}

async function toolsByName(env: Environment): Promise<ReadonlyMap<string, Tool>> {
  const { allTools } = await import('./all-tools.ts');
  const tools = await allTools(env);
  return new Map(
    tools.flatMap((tool) =>
      [tool.name, ...(tool.aliases ?? [])].map((name) => [name.toLowerCase(), tool] as const),
    ),
  );
}

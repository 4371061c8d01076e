// The agents of a daemon for its clients: the definitions in its home, and those that came with Crab. Where they lie and
// how a file is written is handed in; here is only what each message means.

import type { AgentProfile } from '../../core/agent.ts';
import { asCrabError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { RequestFailure } from '../../protocol/failure.ts';
import type { AgentInfo, McpInfo, UpsertMcpMsg } from '../../protocol/messages.ts';
import { strictJson } from '../../protocol/strict-json.ts';
import type { Agents } from './daemon-server.ts';

export interface AgentStoreOptions {
  readonly builtin: readonly AgentProfile[];
  /** Those with files, as they are at this moment. */
  own(): Promise<readonly AgentProfile[]>;
  /** Changes keys of the file, or makes it; null takes a key away. Throws `CrabError` for what would be no agent. */
  change(name: string, values: JsonObject): Promise<void>;
  /** False when there is no file. */
  remove(name: string): Promise<boolean>;
  /** Takes known secrets out of a text. */
  redact(text: string): string;
}

/** Keys of a server that may hold secrets; their names are told, and what they are set to is not. */
const SECRET_TABLES = ['env', 'headers'];

export function createAgentStore(options: AgentStoreOptions): Agents {
  const { builtin, own, change, remove, redact } = options;

  async function all(): Promise<readonly AgentInfo[]> {
    const mine = await own();
    const names = new Set(mine.map(({ agent }) => agent.name));
    return [
      ...mine.map((profile) => infoOf(profile, false)),
      ...builtin.filter(({ agent }) => !names.has(agent.name)).map((profile) => infoOf(profile, true)),
    ];
  }

  async function find(name: string): Promise<AgentProfile> {
    const profile = [...(await own()), ...builtin].find(({ agent }) => agent.name === name);
    if (profile === undefined) throw new RequestFailure(404, `There is no agent ${name}.`);
    return profile;
  }

  async function changed(name: string, values: JsonObject): Promise<void> {
    try {
      await change(name, values);
    } catch (error) {
      const { code, message } = asCrabError(error);
      if (code === 'usage' || code === 'agent-invalid') throw new RequestFailure(400, message);
      throw error;
    }
  }

  return {
    list: all,
    async upsert(name, config) {
      await changed(name, objectOf(config));
      return infoOf(await find(name), false);
    },
    async delete(name) {
      if (!(await remove(name)))
        throw new RequestFailure(404, `There is no agent ${name} that could be deleted.`);
    },
    async listMcps(name): Promise<readonly McpInfo[]> {
      const { mcps = {} } = (await find(name)).agent;
      return Object.entries(mcps).map(([server, config]) => ({
        name: server,
        config: redact(JSON.stringify(withoutSecrets(config))),
      }));
    },
    async upsertMcp({ agent, name, config }: UpsertMcpMsg) {
      const { mcps = {} } = (await find(agent)).agent;
      await changed(agent, { mcps: { ...mcps, [name]: objectOf(config) } });
    },
    async deleteMcp(agent, name) {
      const { mcps = {} } = (await find(agent)).agent;
      if (!Object.hasOwn(mcps, name)) throw new RequestFailure(404, `${agent} has no server ${name}.`);
      const { [name]: _, ...rest } = mcps;
      await changed(agent, { mcps: rest });
    },
  };
}

function infoOf({ agent, description, prompt }: AgentProfile, isBuiltin: boolean): AgentInfo {
  const { name, model = '', tools = [], skills = [], mcps = {} } = agent;
  return { name, description, model, tools, skills, mcps: Object.keys(mcps), builtin: isBuiltin, prompt };
}

function objectOf(json: string): JsonObject {
  const value = strictJson(json, 'The configuration');
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new RequestFailure(400, 'The configuration must be a JSON object.');
}

function withoutSecrets(config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) =>
      SECRET_TABLES.includes(key) && typeof value === 'object' && value !== null
        ? [key, Object.fromEntries(Object.keys(value).map((name) => [name, '***']))]
        : [key, value],
    ),
  );
}

// `crab watch`: what is said in the conversations of the daemon, whoever asked for it, as it is said.

import { EXIT } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { visible, visibleLine } from '../faces/visible.ts';
import { toJson } from '../protocol/json-form.ts';
import { AgentEventKind, type AgentEventMsg } from '../protocol/messages.ts';
import { TYPES } from '../protocol/types.ts';
import { withDaemon } from './daemon-client.ts';
import type { Environment } from './home.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab watch [--agent NAME] [--sender NAME] [--kind KIND] [--json]

  Shows what is said in the conversations of the daemon until it is interrupted.

  --agent NAME    only what this agent says (may be repeated, as all of these)
  --sender NAME   only in conversations with this sender
  --kind KIND     only ${Object.keys(AgentEventKind).slice(0, 3).join(', ')},
                  ${Object.keys(AgentEventKind).slice(3).join(', ')}
  --json          one line of JSON for each event
`;

/** Returns the exit status. Throws `CrabError`. */
export async function watchCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values, positionals } = subcommandArguments('watch', argv, {
    help: { type: 'boolean', short: 'h' },
    agent: { type: 'string', multiple: true },
    sender: { type: 'string', multiple: true },
    kind: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  });
  const stdout = sinkOf(process.stdout, env);
  if (values.help === true) {
    await stdout.write(HELP);
    return EXIT.success;
  }
  if (positionals.length > 0) throw subcommandUsage('watch', `\`crab watch\` takes no ${positionals[0]}.`);
  const { agent: agents = [], sender: senders = [], kind = [] } = values;
  const filter = { agents, senders, kinds: kind.map(kindOf) };
  const show = values.json === true ? showJson(stdout) : showText(stdout);
  return withDaemon(env, async ({ client }) => {
    const stop = stopOnSignals(() => {});
    let isStopped = false;
    stop.signal.addEventListener('abort', () => {
      isStopped = true;
      client.close();
    });
    try {
      for await (const answer of client.stream('subscribeEvents', filter))
        if (answer.case === 'agentEvent') await show(answer.value);
    } catch (error) {
      if (!isStopped) throw error;
    } finally {
      stop.release();
    }
    return EXIT.success;
  });
}

function kindOf(name: string): AgentEventMsg['kind'] {
  const known = Object.entries(AgentEventKind).find(
    ([one]) => one === name.toUpperCase().replaceAll('-', '_'),
  );
  if (known !== undefined) return known[1];
  throw subcommandUsage('watch', `There is no kind ${name}.`);
}

function showJson(stdout: Sink): (event: AgentEventMsg) => Promise<void> {
  // The kind that has the number 0 is told, too: a reader of lines should not have to know the schema.
  return (event) =>
    stdout.write(
      `${JSON.stringify({ kind: nameOf(event.kind), ...toJson(TYPES, 'AgentEventMsg', event) })}\n`,
    );
}

function nameOf(kind: AgentEventMsg['kind']): string {
  return Object.entries(AgentEventKind).find(([, number]) => number === kind)?.[0] ?? String(kind);
}

/** The text of a conversation runs on until another one, or another kind, takes its place. */
function showText(stdout: Sink): (event: AgentEventMsg) => Promise<void> {
  let open = '';
  return async ({ kind, agent, sender, content, toolName, toolIsError }) => {
    const where = visibleLine(`${agent}/${sender}`);
    const isText = kind === AgentEventKind.TEXT_DELTA || kind === AgentEventKind.THINKING_DELTA;
    const heading = isText ? `${where}${kind === AgentEventKind.THINKING_DELTA ? ' thinks' : ''}: ` : '';
    const before = open === '' || open === heading ? '' : '\n';
    if (isText) {
      await stdout.write(`${before}${open === heading ? '' : heading}${visible(content)}`);
      open = heading;
      return;
    }
    open = '';
    const told: Readonly<Record<number, string>> = {
      [AgentEventKind.TOOL_START]: `calls ${toolName} ${content}`,
      [AgentEventKind.TOOL_RESULT]: `${toolIsError ? 'failed' : 'result'} of ${toolName}: ${content}`,
      [AgentEventKind.DONE]: content === '' ? 'is done' : `has failed: ${content}`,
    };
    const text = told[kind];
    await stdout.write(`${before}${text === undefined ? '' : `${visibleLine(`${where} ${text}`)}\n`}`);
  };
}

// What calls of the past touched, asked of their tools as it was when they ran: by the plan of the input, never by the
// tool's name. Each call is planned once.

import type { Message, ToolCallContent } from '../core/message.ts';
import type { Access } from '../core/permission.ts';
import { type CallEnvironment, planCall } from './call.ts';

export class Accesses {
  readonly #known = new WeakMap<ToolCallContent, Access | 'unknown'>();
  readonly #byId = new Map<string, Access>();

  /** Plans the calls of these messages that are new. One whose tool is gone, or refuses its input, is passed over. */
  async learn(
    messages: readonly Message[],
    environment: Pick<CallEnvironment, 'tools' | 'identity'>,
  ): Promise<void> {
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? message.content.filter((block) => block.type === 'toolCall') : [],
    );
    for (const call of calls) {
      if (this.#known.has(call)) continue;
      const planned = await planCall(call, environment);
      this.#known.set(call, 'plan' in planned ? planned.plan.access : 'unknown');
      if ('plan' in planned) this.#byId.set(call.id, planned.plan.access);
    }
  }

  of(call: ToolCallContent): Access | undefined {
    const access = this.#known.get(call);
    return access === 'unknown' ? undefined : access;
  }

  /** The call only looked, and can look again. */
  isReading(callId: string): boolean {
    const kind = this.#byId.get(callId)?.kind;
    return kind === 'read' || kind === 'network';
  }
}

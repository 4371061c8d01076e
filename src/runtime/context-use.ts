// What fills the context of a conversation at this moment: the next request as it would be sent, without a prompt.

import type { ContextUse } from '../core/extension.ts';
import { contextRows } from '../engine/context-rows.ts';
import { countedTokens, estimateInput } from '../engine/estimate.ts';
import { composePrompt } from '../engine/prompt.ts';
import type { Catalogue } from './catalogue.ts';
import type { Conversation } from './conversation.ts';
import { offeredTools } from './offered-tools.ts';

export async function contextUse(
  conversation: Conversation,
  catalogue: Catalogue,
  now: number,
): Promise<ContextUse> {
  const { declaration } = conversation;
  const { instructions, limits } = declaration;
  const info = await conversation.model().then(
    (model) => model.info,
    () => undefined,
  );
  const system =
    conversation.promptText ?? composePrompt(instructions, catalogue.shown, catalogue.promptParts);
  const messages = conversation.view.messages();
  const content = { system, messages, tools: offeredTools({ conversation, catalogue }).schemas() };
  const { tokens } = estimateInput(content, { provider: info?.provider ?? '', id: info?.id ?? '' }, now);
  const parts = {
    ...content,
    instructions: instructions.files.map(({ text }) => text).join('\n'),
    isSummarised: conversation.history().compacted !== undefined,
  };
  return {
    ...(info !== undefined && { model: `${info.provider}/${info.id}` }),
    ...(info?.contextWindow !== undefined && { window: info.contextWindow }),
    tokens,
    isCounted: countedTokens(messages) !== undefined,
    rows: contextRows(parts, tokens),
    reserve: limits.context?.pauseAt?.reserveTokens ?? 0,
  };
}

// One model as the wire of Anthropic's Messages API needs to know it: what its row says of it, looked up once.

import type { AnthropicFiles } from './anthropic-files.ts';
import type { AdaptiveThinking, AnthropicDialect, FastModels } from './provider-row.ts';

export const API = 'anthropic-messages';

export interface AnthropicModel {
  readonly provider: string;
  readonly id: string;
  readonly maxOutput: number | undefined;
  /** Undefined for a model that thinks within a budget. */
  readonly adaptive: AdaptiveThinking | undefined;
  readonly fast: FastModels | undefined;
  readonly structured: boolean;
  /** Absent for the API's own five minutes. */
  readonly cacheTtl: '1h' | undefined;
  readonly citations: boolean;
  readonly envelope: AnthropicDialect['envelope'];
  /** Asked for by the person, with every request. */
  readonly betas: readonly string[];
  /** Undefined where there is no Files API. */
  readonly files: AnthropicFiles | undefined;
}

// Anthropic's models on Google Vertex AI (docs.anthropic.com/en/api/claude-on-vertex-ai): Anthropic's events, the model
// in the path and a version in the body. What Google's front refuses, it refuses in Google's words.

import { readAnthropicHistory } from './anthropic-history.ts';
import { anthropicErrorBody, anthropicWire, renderAnthropic } from './anthropic-wire.ts';
import { extraneous, requireVersion } from './cloud-body.ts';
import { googleErrorBody } from './google-error.ts';
import type { Wire } from './wire.ts';

const VERSION = 'vertex-2023-10-16';

/** Statuses that the front answers before the model is reached. */
const OF_THE_FRONT = [401, 403, 404, 429, 503];

export const vertexWire: Wire = {
  ...anthropicWire,
  name: 'vertex',

  history({ body }) {
    const history = readAnthropicHistory(body);
    const findings = [...requireVersion(body, VERSION), ...extraneous(body, ['model']), ...history.findings];
    return { ...history, findings };
  },

  render: (answer, { model }) => renderAnthropic(answer, model),

  errorBody: (error) =>
    OF_THE_FRONT.includes(error.status) ? googleErrorBody(error) : anthropicErrorBody(error),
};

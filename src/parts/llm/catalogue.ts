// What vendors say of their models, as of November 2026: context window, longest output, what can be shown to them,
// and US dollars for a million tokens. It is data, compared over three lists (models.dev, OpenRouter's and pi's) and
// with what the vendors publish; a figure on which they disagree is left out, because a wrong price is worse than
// none. Prices are those of the vendor's own API at its busiest hour and its shortest cache lifetime.

import type { ModelFacts } from '../../core/model.ts';
import type { Price } from '../../core/usage.ts';

export interface Section {
  /** Nobody but the vendor sets the price: it holds wherever the model is sold. Open models cost what their host asks. */
  readonly closed: boolean;
  readonly models: Readonly<Record<string, ModelFacts>>;
}

/** Of input, of output, and of what was read from and written to a cache: the price of input where none is given. */
type Rates = readonly [input: number, output: number, cacheRead?: number, cacheWrite?: number];

type Ability = 'image' | 'pdf' | 'thinking' | 'json';

function model(
  contextWindow: number,
  maxOutput: number,
  abilities: string,
  rates?: Rates,
  above?: readonly [tokens: number, rates: Rates],
): ModelFacts {
  const can = (ability: Ability) => abilities.includes(ability);
  const input = (['image', 'pdf'] as const).filter(can);
  const facts = { contextWindow, maxOutput, input, reasoning: can('thinking'), structured: can('json') };
  return rates === undefined ? facts : { ...facts, price: priceOf(rates, above) };
}

function priceOf(rates: Rates, above?: readonly [tokens: number, rates: Rates]): Price {
  const [input, output, cacheRead = input, cacheWrite = input] = rates;
  const price = { input, output, cacheRead, cacheWrite };
  if (above === undefined) return price;
  return { ...price, above: { tokens: above[0], price: priceOf(above[1]) } };
}

/** By who sells them; a provider's row names its section. */
export const CATALOGUE: Readonly<Record<string, Section>> = {
  anthropic: {
    closed: true,
    models: {
      'claude-fable-5-1': model(1_000_000, 128_000, 'image pdf thinking json', [10, 50, 0.25, 12.5]),
      'claude-fable-5-2': model(1_000_000, 128_000, 'image pdf thinking json', [8, 40, 0.2, 10]),
      'claude-fable-5': model(1_000_000, 128_000, 'image pdf thinking json', [10, 50, 1, 12.5]),
      'claude-haiku-4-5': model(200_000, 64_000, 'image pdf thinking json', [1, 5, 0.1, 1.25]),
      'claude-haiku-5-5': model(
        1_000_000,
        128_000,
        'image pdf thinking json',
        [0.1, 0.5, 0.01, 0.125],
        [100_000, [0.5, 2.5, 0.05, 0.625]],
      ),
      'claude-opus-4-1': model(200_000, 32_000, 'image pdf thinking', [15, 75, 1.5, 18.75]),
      'claude-opus-4-5': model(200_000, 64_000, 'image pdf thinking json', [5, 25, 0.5, 6.25]),
      'claude-opus-4-6': model(1_000_000, 128_000, 'image pdf thinking json', [5, 25, 0.5, 6.25]),
      'claude-opus-4-7': model(1_000_000, 128_000, 'image pdf thinking json', [5, 25, 0.5, 6.25]),
      'claude-opus-4-8': model(1_000_000, 128_000, 'image pdf thinking json', [5, 25, 0.5, 6.25]),
      'claude-opus-4': model(200_000, 32_000, 'image pdf thinking', [15, 75, 1.5, 18.75]),
      'claude-opus-5-5': model(1_000_000, 128_000, 'image pdf thinking json', [4, 20, 0.2, 5]),
      'claude-opus-5': model(1_000_000, 128_000, 'image pdf thinking json', [5, 25, 0.5, 6.25]),
      'claude-sonnet-4-5': model(200_000, 64_000, 'image pdf thinking json', [3, 15, 0.3, 3.75]),
      'claude-sonnet-4-6': model(1_000_000, 128_000, 'image pdf thinking json', [3, 15, 0.3, 3.75]),
      'claude-sonnet-4': model(200_000, 64_000, 'image pdf thinking', [3, 15, 0.3, 3.75]),
      'claude-sonnet-5-5': model(1_000_000, 128_000, 'image pdf thinking json', [2, 10, 0.1, 2.5]),
      'claude-sonnet-5': model(1_000_000, 128_000, 'image pdf thinking json', [2, 10, 0.2, 2.5]),
    },
  },
  openai: {
    closed: true,
    models: {
      'chat-latest': model(400_000, 128_000, 'image pdf thinking json', [5, 30, 0.5]),
      'gpt-4.1-mini': model(1_047_576, 32_768, 'image pdf json', [0.4, 1.6, 0.1]),
      'gpt-4.1-nano': model(1_047_576, 32_768, 'image pdf json', [0.1, 0.4, 0.025]),
      'gpt-4.1': model(1_047_576, 32_768, 'image pdf json', [2, 8, 0.5]),
      'gpt-4o-mini': model(128_000, 16_384, 'image pdf json', [0.15, 0.6, 0.075]),
      'gpt-4o': model(128_000, 16_384, 'image pdf json', [2.5, 10, 1.25]),
      'gpt-5-chat-latest': model(128_000, 16_384, 'image pdf json', [1.25, 10, 0.125]),
      'gpt-5-codex': model(400_000, 128_000, 'image pdf thinking json', [1.25, 10, 0.125]),
      'gpt-5-mini': model(400_000, 128_000, 'image pdf thinking json', [0.25, 2, 0.025]),
      'gpt-5-nano': model(400_000, 128_000, 'image pdf thinking json', [0.05, 0.4, 0.005]),
      'gpt-5-pro': model(400_000, 128_000, 'image pdf thinking json', [15, 120]),
      'gpt-5.1-codex-max': model(400_000, 128_000, 'image pdf thinking json', [1.25, 10, 0.125]),
      'gpt-5.1-codex-mini': model(400_000, 128_000, 'image pdf thinking json', [0.25, 2, 0.025]),
      'gpt-5.1-codex': model(400_000, 128_000, 'image pdf thinking json', [1.25, 10, 0.125]),
      'gpt-5.1': model(400_000, 128_000, 'image pdf thinking json', [1.25, 10, 0.125]),
      'gpt-5.2-codex': model(400_000, 128_000, 'image pdf thinking json', [1.75, 14, 0.175]),
      'gpt-5.2-pro': model(400_000, 128_000, 'image pdf thinking', [21, 168]),
      'gpt-5.2': model(400_000, 128_000, 'image pdf thinking json', [1.75, 14, 0.175]),
      'gpt-5.3-codex-spark': model(128_000, 32_000, 'image pdf thinking json', [1.75, 14, 0.175]),
      'gpt-5.3-codex': model(400_000, 128_000, 'image pdf thinking json', [1.75, 14, 0.175]),
      'gpt-5.4-mini': model(400_000, 128_000, 'image pdf thinking json', [0.75, 4.5, 0.075]),
      'gpt-5.4-nano': model(400_000, 128_000, 'image pdf thinking json', [0.2, 1.25, 0.02]),
      'gpt-5.4-pro': model(1_050_000, 128_000, 'image pdf thinking', [30, 180], [272_000, [60, 270]]),
      'gpt-5.4': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [2.5, 15, 0.25],
        [272_000, [5, 22.5, 0.5]],
      ),
      'gpt-5.5-pro': model(1_050_000, 128_000, 'image pdf thinking json', [30, 180], [272_000, [60, 270]]),
      'gpt-5.5': model(1_050_000, 128_000, 'image pdf thinking json', [5, 30, 0.5], [272_000, [10, 45, 1]]),
      'gpt-5.6-luna': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [0.2, 1.2, 0.02, 0.25],
        [272_000, [0.4, 1.8, 0.04, 0.5]],
      ),
      'gpt-5.6-sol': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [4, 20, 0.4, 5],
        [272_000, [8, 30, 0.8, 10]],
      ),
      'gpt-5.6-terra': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [2, 12, 0.2, 2.5],
        [272_000, [4, 18, 0.4, 5]],
      ),
      'gpt-5': model(400_000, 128_000, 'image pdf thinking json', [1.25, 10, 0.125]),
      'gpt-6-astra': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [10, 50, 1, 12.5],
        [272_000, [20, 75, 2, 25]],
      ),
      'gpt-6-luna': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [0.1, 0.5, 0.01, 0.125],
        [272_000, [0.2, 0.75, 0.02, 0.25]],
      ),
      'gpt-6-sol': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [2, 10, 0.2, 2.5],
        [272_000, [4, 15, 0.4, 5]],
      ),
      'gpt-6.1-sol': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [2, 10, 0.1, 2.5],
        [272_000, [4, 15, 0.2, 5]],
      ),
      'gpt-6.2-sol': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [2, 10, 0.1, 2.5],
        [272_000, [4, 15, 0.2, 5]],
      ),
      'gpt-6.1-terra': model(
        1_050_000,
        128_000,
        'image pdf thinking json',
        [1, 5, 0.05, 1.25],
        [272_000, [2, 7.5, 0.1, 2.5]],
      ),
      'o1-pro': model(200_000, 100_000, 'image pdf thinking json', [150, 600]),
      o1: model(200_000, 100_000, 'image pdf thinking json', [15, 60, 7.5]),
      'o3-mini': model(200_000, 100_000, 'thinking json', [1.1, 4.4, 0.55]),
      'o3-pro': model(200_000, 100_000, 'image pdf thinking json', [20, 80]),
      o3: model(200_000, 100_000, 'image pdf thinking json', [2, 8, 0.5]),
      'o4-mini': model(200_000, 100_000, 'image pdf thinking json', [1.1, 4.4, 0.275]),
    },
  },
  google: {
    closed: true,
    models: {
      'gemini-2.5-flash-lite': model(1_048_576, 65_536, 'image pdf thinking json', [0.1, 0.4, 0.01]),
      'gemini-2.5-flash': model(1_048_576, 65_536, 'image pdf thinking json', [0.3, 2.5, 0.03]),
      'gemini-2.5-pro': model(
        1_048_576,
        65_536,
        'image pdf thinking json',
        [1.25, 10, 0.125],
        [200_000, [2.5, 15, 0.25]],
      ),
      'gemini-3-flash-preview': model(1_048_576, 65_536, 'image pdf thinking json', [0.5, 3, 0.05]),
      'gemini-3.1-flash-lite-preview': model(
        1_048_576,
        65_536,
        'image pdf thinking json',
        [0.25, 1.5, 0.025],
      ),
      'gemini-3.1-flash-lite': model(1_048_576, 65_536, 'image pdf thinking json', [0.25, 1.5, 0.025]),
      'gemini-3.1-pro-preview': model(
        1_048_576,
        65_536,
        'image pdf thinking json',
        [2, 12, 0.2],
        [200_000, [4, 18, 0.4]],
      ),
      'gemini-3.5-flash-lite': model(1_048_576, 65_536, 'image pdf thinking json', [0.3, 2.5, 0.03]),
      'gemini-3.5-flash': model(1_048_576, 65_536, 'image pdf thinking json', [1.5, 9, 0.15]),
      'gemini-3.6-flash': model(1_048_576, 65_536, 'image pdf thinking json', [0.75, 3.75, 0.075]),
      'gemini-3.7-flash': model(1_048_576, 65_536, 'image pdf thinking json', [0.75, 3.75, 0.075]),
      'gemini-3.8-flash': model(1_048_576, 65_536, 'image pdf thinking json', [0.75, 3.75, 0.075]),
      // As of 1 December 2026; half of it until then.
      'gemini-4-argon': model(1_048_576, 65_536, 'image pdf thinking json', [4, 20, 0.2]),
      'gemini-flash-latest': model(1_048_576, 65_536, 'image pdf thinking json', [1.5, 9, 0.15]),
      'gemini-flash-lite-latest': model(1_048_576, 65_536, 'image pdf thinking json', [0.25, 1.5, 0.025]),
      'gemini-pro-latest': model(
        1_048_576,
        65_536,
        'image pdf thinking json',
        [2, 12, 0.2],
        [200_000, [4, 18, 0.4]],
      ),
    },
  },
  xai: {
    closed: true,
    models: {
      'grok-4-1-fast': model(2_000_000, 30_000, 'image thinking json', [0.2, 0.5, 0.05]),
      'grok-4-fast': model(2_000_000, 30_000, 'image thinking json', [0.2, 0.5, 0.05]),
      'grok-4.3': model(1_000_000, 30_000, 'image thinking json', [1.25, 2.5, 0.2], [200_000, [2.5, 5, 0.4]]),
      'grok-4.5': model(500_000, 500_000, 'image thinking json', [2, 6, 0.3], [200_000, [4, 12, 0.6]]),
      'grok-4.6': model(500_000, 500_000, 'image thinking json', [2, 6, 0.5], [200_000, [4, 12, 1]]),
      'grok-4.7': model(500_000, 500_000, 'image thinking json', [2, 6, 0.5], [200_000, [4, 12, 1]]),
      'grok-4': model(256_000, 64_000, 'image thinking json', [3, 15, 0.75]),
      'grok-code-fast-1': model(256_000, 10_000, 'thinking json', [0.2, 1.5, 0.02]),
    },
  },
  deepseek: {
    closed: false,
    models: {
      'deepseek-flash': model(1_000_000, 384_000, 'image thinking', [0.3, 1.2, 0.006]),
      'deepseek-v4-flash': model(1_000_000, 384_000, 'image thinking', [0.3, 1.2, 0.006]),
      'deepseek-v4-pro': model(1_000_000, 384_000, 'thinking'),
    },
  },
  mistral: {
    closed: false,
    models: {
      'codestral-2508': model(256_000, 8192, 'json', [0.3, 0.9, 0.03]),
      'codestral-latest': model(256_000, 4096, 'json', [0.3, 0.9, 0.03]),
      'devstral-2512': model(262_144, 262_144, 'json', [0.4, 2, 0.04]),
      'devstral-latest': model(262_144, 262_144, 'json', [0.4, 2, 0.04]),
      'devstral-medium-latest': model(262_144, 262_144, 'json', [0.4, 2, 0.04]),
      'magistral-medium-latest': model(262_144, 16_384, 'image thinking json', [2, 5, 0.2]),
      'ministral-14b-2512': model(262_144, 262_144, 'image json', [0.2, 0.2, 0.02]),
      'ministral-8b-2512': model(262_144, 262_144, 'image json', [0.15, 0.15, 0.015]),
      'ministral-8b-latest': model(262_144, 128_000, 'image json', [0.15, 0.15, 0.015]),
      'mistral-large-2512': model(262_144, 262_144, 'image json', [0.5, 1.5, 0.05]),
      'mistral-large-4': model(1_048_576, 262_144, 'image thinking json', [0.7, 2.1, 0.07]),
      'mistral-large-latest': model(262_144, 262_144, 'image json', [0.5, 1.5, 0.05]),
      'mistral-medium-2505': model(131_072, 131_072, 'image json', [0.4, 2, 0.04]),
      'mistral-medium-2508': model(262_144, 262_144, 'image json', [0.4, 2, 0.04]),
      'mistral-medium-2604': model(262_144, 262_144, 'image thinking json', [1.5, 7.5, 0.15]),
      'mistral-medium-3.5': model(262_144, 262_144, 'image thinking json', [1.5, 7.5]),
      'mistral-medium-latest': model(262_144, 262_144, 'image thinking json', [1.5, 7.5, 0.15]),
      'mistral-small-2506': model(128_000, 16_384, 'image json', [0.1, 0.3, 0.01]),
      'mistral-small-2603': model(262_144, 256_000, 'image thinking json', [0.15, 0.6, 0.015]),
      'mistral-small-latest': model(262_144, 256_000, 'image thinking json', [0.15, 0.6, 0.015]),
    },
  },
  moonshot: {
    closed: false,
    models: {
      'kimi-k2-0905-preview': model(262_144, 262_144, 'thinking', [0.6, 2.5, 0.15]),
      'kimi-k2-thinking': model(262_144, 262_144, 'thinking', [0.6, 2.5, 0.15]),
      'kimi-k2.5': model(262_144, 262_144, 'image thinking', [0.6, 3, 0.1]),
      'kimi-k2.6': model(262_144, 262_144, 'image thinking', [0.95, 4, 0.16]),
      'kimi-k2.7-code-highspeed': model(262_144, 262_144, 'image thinking', [1.9, 8, 0.38]),
      'kimi-k2.7-code': model(262_144, 262_144, 'image thinking', [0.95, 4, 0.19]),
      'kimi-k3.1-pro-highspeed': model(1_048_576, 1_048_576, 'image thinking', [4, 20, 0.2]),
      'kimi-k3.1-pro': model(1_048_576, 1_048_576, 'image thinking', [2, 10, 0.2]),
      'kimi-k3': model(1_048_576, 1_048_576, 'image thinking', [3, 15, 0.3]),
    },
  },
  zai: {
    closed: false,
    models: {
      'glm-4.5-air': model(131_072, 98_304, 'thinking', [0.2, 1.1, 0.03]),
      'glm-4.5': model(131_072, 98_304, 'thinking', [0.6, 2.2, 0.11]),
      'glm-4.6': model(204_800, 131_072, 'thinking', [0.6, 2.2, 0.11]),
      'glm-4.7': model(204_800, 131_072, 'thinking', [0.6, 2.2, 0.11]),
      'glm-5-turbo': model(200_000, 131_072, 'thinking', [1.2, 4, 0.24]),
      'glm-5.1': model(200_000, 131_072, 'thinking', [1.4, 4.4, 0.26]),
      'glm-5.2': model(1_000_000, 131_072, 'thinking', [1.4, 4.4, 0.26]),
      'glm-5.3-flash': model(1_000_000, 131_072, 'image thinking', [0.15, 0.5, 0.03]),
      'glm-5.3': model(1_000_000, 131_072, 'thinking', [1.4, 4.4, 0.26]),
      'glm-5': model(204_800, 131_072, 'thinking', [1, 3.2, 0.2]),
    },
  },
  dashscope: {
    closed: false,
    models: {
      'qwen3-coder-flash': model(1_000_000, 65_536, ''),
      'qwen3-coder-plus': model(1_000_000, 65_536, ''),
      'qwen3-max': model(262_144, 65_536, ''),
      'qwen3.6-flash': model(1_000_000, 65_536, 'image thinking', [0.1875, 1.125, 0.1875, 0.234375]),
      'qwen3.6-plus': model(1_000_000, 65_536, 'image thinking'),
      'qwen3.7-max': model(1_000_000, 65_536, 'thinking'),
      'qwen3.7-plus': model(1_000_000, 65_536, 'image thinking'),
      'qwen3.8-flash': model(1_000_000, 131_072, 'image thinking'),
      'qwen3.8-max': model(1_000_000, 131_072, 'image thinking'),
    },
  },
  minimax: {
    closed: false,
    models: {
      'MiniMax-M2.7': model(204_800, 131_072, 'thinking', [0.3, 1.2, 0.06, 0.375]),
      'MiniMax-M3.1-Flash': model(1_000_000, 524_288, 'image thinking', [0.15, 0.6, 0.015]),
      'MiniMax-M3': model(
        1_000_000,
        524_288,
        'image thinking',
        [0.3, 1.2, 0.06],
        [512_000, [0.6, 2.4, 0.12]],
      ),
    },
  },
  groq: {
    closed: false,
    models: {
      'llama-3.1-8b-instant': model(131_072, 131_072, '', [0.05, 0.08]),
      'llama-3.3-70b-versatile': model(131_072, 32_768, '', [0.59, 0.79]),
      'meta-llama/llama-4-scout-17b-16e-instruct': model(131_072, 8192, 'image', [0.11, 0.34]),
      'moonshotai/kimi-k2-instruct-0905': model(262_144, 16_384, '', [1, 3, 0.5]),
      'openai/gpt-oss-120b': model(131_072, 65_536, 'thinking json', [0.15, 0.6, 0.075]),
      'openai/gpt-oss-20b': model(131_072, 65_536, 'thinking json', [0.075, 0.3, 0.0375]),
      'qwen/qwen3-32b': model(131_072, 40_960, '', [0.29, 0.59]),
      'qwen/qwen3.6-27b': model(131_072, 16_384, 'image thinking', [0.6, 3, 0.3]),
      'qwen/qwen3.8-27b': model(131_072, 16_384, 'image thinking', [0.8, 4]),
    },
  },
  cerebras: {
    closed: false,
    models: {
      'gpt-oss-120b': model(131_072, 40_960, 'thinking', [0.35, 0.75, 0.35]),
      'qwen-3.8-27b': model(131_072, 40_960, 'image thinking', [0.99, 1.49, 0.99]),
    },
  },
};

// Reads an OpenAI Chat Completions body into steps and reports what the real API, or the common servers
// that speak its wire, refuse (platform.openai.com/docs/api-reference/chat/create). Roles need not alternate
// here, but the system prompt must come first: the chat templates of local models demand it.

import type { JsonObject } from '../core/schema.ts';
import { type CallStep, type Finding, finding, type History, type Step } from './history-check.ts';
import { asList, asText, isJsonObject, isObject } from './json.ts';

type Report = (at: string, message: string) => void;

export function readOpenaiHistory(body: JsonObject): History {
  const findings: Finding[] = [];
  const report: Report = (at, message) => void findings.push(finding(at, message));
  if (asText(body['model']) === '') report('model', 'the model is missing');
  const steps: Step[] = [];
  const system: string[] = [];
  for (const [index, message] of asList(body['messages']).entries()) {
    const at = `messages[${index}]`;
    const fields = isObject(message) ? message : {};
    const role = asText(fields['role']);
    if (role === 'system' || role === 'developer') {
      if (steps.length > 0) report(at, 'the system prompt does not come first');
      system.push(textOf(fields['content'], at, report));
    } else if (role === 'user') steps.push(readUser(fields, at, report));
    else if (role === 'assistant') steps.push(readAssistant(fields, at, report));
    else if (role === 'tool') steps.push(readResult(fields, at, report));
    else report(at, `role ${JSON.stringify(role)} is not known`);
  }
  return { steps, system: system.join('\n'), tools: readTools(body['tools'], report), findings };
}

/** The text of a string or of a list of parts. */
function textOf(content: unknown, at: string, report: Report): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part, index) => {
      const fields = isObject(part) ? part : {};
      const text = asText(fields['text']);
      if (fields['type'] === 'text' && text === '')
        report(`${at}.content[${index}]`, 'the text part is empty');
      return text;
    })
    .join('\n');
}

function readUser(fields: JsonObject, at: string, report: Report): Step {
  const { content } = fields;
  const empty = typeof content === 'string' ? content.trim() === '' : asList(content).length === 0;
  if (empty) report(at, 'the user message is empty');
  return { kind: 'user', at, text: textOf(content, at, report) };
}

function readAssistant(fields: JsonObject, at: string, report: Report): Step {
  const { content, tool_calls: toolCalls } = fields;
  const silent = textOf(content, at, report).trim() === '' && asText(fields['refusal']) === '';
  if (Array.isArray(toolCalls) && toolCalls.length === 0) report(at, 'tool_calls is an empty array');
  else if (silent && toolCalls === undefined) report(at, 'the assistant message is empty');
  const calls = asList(toolCalls).map((call, index) => readCall(call, `${at}.tool_calls[${index}]`, report));
  return { kind: 'assistant', at, calls };
}

function readCall(call: unknown, at: string, report: Report): CallStep {
  const fields = isObject(call) ? call : {};
  const named = isObject(fields['function']) ? fields['function'] : {};
  const id = asText(fields['id']);
  if (fields['type'] !== 'function') report(at, 'the type of the call is not "function"');
  if (id === '') report(at, 'the call has no id');
  if (!isJsonObject(named['arguments'])) {
    report(at, `the arguments of call ${id} are not the JSON text of an object`);
  }
  return { at, id, name: asText(named['name']) };
}

function readResult(fields: JsonObject, at: string, report: Report): Step {
  const { content } = fields;
  if (typeof content !== 'string' && asList(content).length === 0) report(at, 'the result has no content');
  return { kind: 'result', at, callId: asText(fields['tool_call_id']), text: textOf(content, at, report) };
}

function readTools(tools: unknown, report: Report): History['tools'] {
  if (Array.isArray(tools) && tools.length === 0) report('tools', 'tools is an empty array');
  return asList(tools).map((tool, index) => {
    const at = `tools[${index}]`;
    const fields = isObject(tool) ? tool : {};
    const named = isObject(fields['function']) ? fields['function'] : {};
    if (fields['type'] !== 'function') report(at, 'the type of the tool is not "function"');
    const { parameters } = named;
    if (parameters !== undefined && (!isObject(parameters) || parameters['type'] !== 'object')) {
      report(at, 'the parameters are not the schema of an object');
    }
    return { at, name: asText(named['name']) };
  });
}

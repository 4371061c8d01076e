// What definitions say about tools, in the words of each tool that writes such files: lists of names or of rules, tables
// of switches, and opencode's permissions (opencode.ai/docs/agents). What cannot be taken over is told, and where it is
// not clear what was meant, the agent may do less rather than more.

export interface ToolWords {
  /** Empty for all of them. */
  readonly tools: readonly string[];
  readonly withoutTools: readonly string[];
  /** In sentences. */
  readonly notes: readonly string[];
}

type Table = Readonly<Record<string, unknown>>;

/** `Bash(git *)` is a rule, and no name: the tool is meant. `*` is every tool. */
export function granted(key: string, names: readonly string[]): ToolWords {
  const rules = names.filter(isRule);
  const notes = rules.map(
    (rule) => `${key}: ${rule} is read as ${nameIn(rule)}; what it may do with it is for permission rules.`,
  );
  const tools = names.map(nameIn);
  return { tools: tools.includes('*') ? [] : [...new Set(tools)], withoutTools: [], notes };
}

export function takenAway(key: string, names: readonly string[]): ToolWords {
  const notes = names
    .filter(isRule)
    .map((rule) => `${key}: ${rule} takes away all of ${nameIn(rule)}; a permission rule can be finer.`);
  return { tools: [], withoutTools: [...new Set(names.map(nameIn))], notes };
}

/** A table of switches: everything is on that is not switched off. */
export function switched(table: Table): ToolWords {
  const on = Object.keys(table).filter((name) => isOn(table[name]));
  const off = Object.keys(table).filter((name) => !isOn(table[name]));
  if (off.includes('*')) return { tools: on, withoutTools: [], notes: [] };
  return { tools: [], withoutTools: off, notes: [] };
}

/** Tools that one word stands for. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  edit: ['edit', 'write', 'apply_patch', 'notebook_edit'],
  list: ['ls'],
  task: ['delegate'],
};

export function permitted(key: string, value: unknown): ToolWords {
  const table = typeof value === 'object' && value !== null ? (value as Table) : { '*': value };
  const denied = Object.keys(table).filter((name) => table[name] === 'deny');
  const notes = Object.keys(table)
    .filter((name) => table[name] !== 'deny')
    .map((name) => `${key}.${name} is left out: what is asked about is for permission rules.`);
  return { tools: [], withoutTools: denied.flatMap((name) => KINDS[name] ?? [name]), notes };
}

function isOn(value: unknown): boolean {
  return value === true || value === 'true';
}

function isRule(name: string): boolean {
  return /\(.*\)$/.test(name);
}

function nameIn(rule: string): string {
  return rule.replace(/\(.*\)$/, '');
}

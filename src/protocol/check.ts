// Holds a value against a JSON Schema, in the few keywords that the generated ones use. A union whose members differ in
// one constant is decided by that constant, so that an event costs one look-up and its fault is told of the right member.

export type CheckSchema = { readonly [keyword: string]: unknown };

/** What is wrong with a value, with the place of it; undefined when nothing is. */
export type Check = (value: unknown) => Fault | undefined;

export interface Fault {
  /** Such as `.declaration.rules[3].text`; empty for the value itself. */
  readonly at: string;
  readonly text: string;
}

export interface CheckOptions {
  readonly definitions: Readonly<Record<string, CheckSchema>>;
  /** Properties that no schema names: refused where one of them could be a restriction, passed over by those who read news. */
  readonly unknown: 'refused' | 'passed';
}

const FINE: Check = () => undefined;

/** Returns the check of each definition. Each is put together when it is first needed. */
export function createChecks({ definitions, unknown }: CheckOptions): (name: string) => Check {
  const made = new Map<string, Check>();

  function named(name: string): Check {
    let check = made.get(name);
    if (check !== undefined) return check;
    const schema = definitions[name];
    if (schema === undefined) throw new Error(`There is no definition ${name}.`);
    // A type may name itself.
    made.set(name, (value) => check?.(value));
    check = of(schema);
    made.set(name, check);
    return check;
  }

  function resolved(schema: CheckSchema): CheckSchema {
    const name = referred(schema);
    return name === undefined ? schema : resolved(definitions[name] ?? {});
  }

  function of(schema: CheckSchema): Check {
    const name = referred(schema);
    if (name !== undefined) {
      let check: Check | undefined;
      return (value) => {
        check ??= named(name);
        return check(value);
      };
    }
    if ('const' in schema) return oneOf([schema['const']]);
    if (Array.isArray(schema['enum'])) return oneOf(schema['enum']);
    if (Array.isArray(schema['anyOf'])) return union(schema['anyOf']);
    switch (schema['type']) {
      case 'object':
        return object(schema);
      case 'array':
        return array(of((schema['items'] ?? {}) as CheckSchema));
      case 'string':
        return (value) => (typeof value === 'string' ? undefined : wrong('a string', value));
      case 'number':
        return (value) => (typeof value === 'number' ? undefined : wrong('a number', value));
      case 'boolean':
        return (value) => (typeof value === 'boolean' ? undefined : wrong('true or false', value));
      case 'null':
        return (value) => (value === null ? undefined : wrong('null', value));
      default:
        return FINE;
    }
  }

  function object(schema: CheckSchema): Check {
    const required = (schema['required'] ?? []) as readonly string[];
    const others = (schema['additionalProperties'] ?? true) as CheckSchema | boolean;
    const rest = typeof others === 'object' ? of(others) : FINE;
    const refuses = others === false && unknown === 'refused';
    const properties = new Map(
      Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, CheckSchema>>).map(
        ([name, inner]) => [name, of(inner)],
      ),
    );
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return wrong('an object', value);
      for (const name of required)
        if (!Object.hasOwn(value, name)) return { at: `.${name}`, text: 'is missing' };
      for (const name of Object.keys(value)) {
        const known = properties.get(name);
        if (known === undefined && refuses) return { at: `.${name}`, text: 'is not known here' };
        const fault = (known ?? rest)((value as Readonly<Record<string, unknown>>)[name]);
        if (fault !== undefined) return { ...fault, at: `.${name}${fault.at}` };
      }
      return undefined;
    };
  }

  function array(item: Check): Check {
    return (value) => {
      if (!Array.isArray(value)) return wrong('an array', value);
      for (let index = 0; index < value.length; index++) {
        const fault = item(value[index]);
        if (fault !== undefined) return { ...fault, at: `[${index}]${fault.at}` };
      }
      return undefined;
    };
  }

  function union(members: readonly CheckSchema[]): Check {
    const flat = members.flatMap(function open(one: CheckSchema): readonly CheckSchema[] {
      const inner = resolved(one);
      return Array.isArray(inner['anyOf']) ? inner['anyOf'].flatMap(open) : [one];
    });
    const mark = markOf(flat.map(resolved));
    if (mark !== undefined) return marked(mark, flat);
    const checks = flat.map(of);
    return (value) => {
      let first: Fault | undefined;
      for (const check of checks) {
        const fault = check(value);
        if (fault === undefined) return undefined;
        // The one that fits best got furthest.
        if (first === undefined || fault.at.length > first.at.length) first = fault;
      }
      return first;
    };
  }

  function marked(mark: string, members: readonly CheckSchema[]): Check {
    const checks = new Map(members.map((one) => [constantOf(resolved(one), mark), of(one)]));
    const isMark = oneOf([...checks.keys()]);
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return wrong('an object', value);
      const chosen = (value as Readonly<Record<string, unknown>>)[mark];
      const check = checks.get(chosen);
      if (check !== undefined) return check(value);
      if (chosen === undefined) return { at: `.${mark}`, text: 'is missing' };
      const fault = isMark(chosen);
      return fault && { ...fault, at: `.${mark}` };
    };
  }

  return named;
}

function referred(schema: CheckSchema): string | undefined {
  const to = schema['$ref'];
  return typeof to === 'string' ? to.slice('#/$defs/'.length) : undefined;
}

/** The property that is another constant in each of them. */
function markOf(members: readonly CheckSchema[]): string | undefined {
  const [first = {}] = members;
  return Object.keys((first['properties'] ?? {}) as object).find((name) => {
    const constants = members.map((member) => constantOf(member, name));
    return !constants.includes(undefined) && new Set(constants).size === members.length;
  });
}

function constantOf(schema: CheckSchema, property: string): unknown {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, CheckSchema>>;
  return properties[property]?.['const'];
}

function oneOf(values: readonly unknown[]): Check {
  const known = new Set(values);
  return (value) => {
    if (known.has(value)) return undefined;
    const all = values.slice(0, 8).map((one) => JSON.stringify(one));
    const rest = values.length > all.length ? ` or another of ${values.length}` : '';
    return wrong(`${all.join(', ')}${rest}`, value);
  };
}

const MAX_SHOWN = 60;

function wrong(expected: string, value: unknown): Fault {
  const kind =
    value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const shown = isPlain ? JSON.stringify(value).slice(0, MAX_SHOWN) : kind;
  return { at: '', text: `must be ${expected}, and is ${shown}` };
}

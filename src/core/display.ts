// What a tool call looks like, as data. A channel draws this closed union and knows no tool by name.

export type Display =
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly cwd?: string;
      readonly exitCode?: number;
      readonly output?: string;
    }
  | {
      readonly kind: 'diff';
      readonly path: string;
      readonly diff: string;
      readonly added: number;
      readonly removed: number;
    }
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly text?: string;
      readonly firstLine?: number;
      readonly lines?: number;
    }
  | {
      readonly kind: 'matches';
      readonly title: string;
      readonly count: number;
      readonly truncated: boolean;
      readonly lines: readonly string[];
    }
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | {
      readonly kind: 'todo';
      readonly items: readonly { readonly text: string; readonly state: 'pending' | 'active' | 'done' }[];
    }
  | { readonly kind: 'markdown'; readonly text: string }
  | { readonly kind: 'image'; readonly mimeType: string; readonly path?: string }
  | { readonly kind: 'progress'; readonly label: string; readonly done?: number; readonly total?: number }
  | {
      readonly kind: 'subrun';
      readonly agent: string;
      readonly task: string;
      /** What it does at the moment, or what came of it; absent before it has begun. */
      readonly doing?: string;
    };

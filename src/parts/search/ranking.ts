// From a query to the sessions that answer it best. The score of a session is that of its best message and of its name and
// summary together, by BM25 with weights for the columns (FTS5's own: k1 1.2, b 0.75); of equal ones the one with a summary
// comes first, then the newer.

import type { SearchFilters, SpokenRole } from '../../core/search.ts';
import { words } from '../../core/words.ts';
import { SLOTS } from './database.ts';
import { type Plan, planQuery } from './plan.ts';
import type { SessionIndex } from './session-index.ts';

/** They stay as they are as long as the labelled queries of the tests find what they should. */
export interface Weights {
  readonly summary: number;
  readonly title: number;
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

export const WEIGHTS: Weights = { summary: 3, title: 2, user: 1.5, assistant: 1, tool: 1.3 };

/** Characters of a query that are read. */
const MAX_QUERY = 4096;

export interface Ranked {
  readonly doc: number;
  readonly score: number;
}

export interface Ranking {
  readonly ranked: readonly Ranked[];
  readonly more: boolean;
  readonly plan: Plan;
}

export interface RankingOptions {
  readonly filters: SearchFilters;
  readonly limit: number;
  readonly skip: number;
  readonly weights: Weights;
}

export function rank(index: SessionIndex, query: string, options: RankingOptions): Ranking {
  const plan = planQuery(words(query.slice(0, MAX_QUERY)), (word, most) => countOf(index, word, most));
  if (plan.words.length === 0) return { ranked: [], more: false, plan };
  const { filters, limit, skip, weights } = options;
  const { condition, values } = conditionOf(filters);
  const { summary, title, user, assistant, tool } = weights;
  const newest = plan.newest === undefined ? '' : `ORDER BY rowid DESC LIMIT ${plan.newest}`;
  const sql = `
    WITH found AS MATERIALIZED (
      SELECT rowid AS doc, -bm25(words, ${summary}, ${title}, ${user}, ${assistant}, ${tool}) AS score
      FROM words WHERE words MATCH ? ${condition} ${newest}
    )
    ${filters.session === undefined ? BY_SESSION : BY_MESSAGE}
    LIMIT ? OFFSET ?`;
  const match = matchOf(plan.words, filters.role);
  const rows = index.statement(sql).all(match, ...values, limit + 1, skip) as unknown as readonly Ranked[];
  return { ranked: rows.slice(0, limit), more: rows.length > limit, plan };
}

// Of a group with one max(), SQLite takes the other columns from the row that has it (sqlite.org/lang_select.html).
const BY_SESSION = `
  , best AS (
    SELECT doc / ${SLOTS} AS id, doc, max(iif(doc % ${SLOTS} = 0, 0, score)) AS said,
      total(iif(doc % ${SLOTS} = 0, score, 0)) AS named
    FROM found GROUP BY 1
  )
  SELECT best.doc AS doc, said + named AS score FROM best JOIN sessions USING (id)
  ORDER BY score DESC, summary <> '' DESC, updated DESC, id DESC`;

const BY_MESSAGE = `
  SELECT doc, score FROM found WHERE doc % ${SLOTS} > 0 ORDER BY score DESC, doc DESC`;

/** Words hold neither quotes nor operators, so a query has no syntax. */
function matchOf(all: readonly string[], role: SpokenRole | undefined): string {
  const any = all.map((word) => `"${word}"`).join(' OR ');
  return role === undefined ? any : `{${role}} : (${any})`;
}

function countOf(index: SessionIndex, word: string, most: number): number {
  const sql = 'SELECT count(*) AS count FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)';
  return Number(index.statement(sql).get(`"${word}"`, most)?.['count']);
}

interface Condition {
  readonly condition: string;
  readonly values: readonly (string | number)[];
}

function conditionOf(filters: SearchFilters): Condition {
  const { agent, cwd, sender, since, until, session, exceptSession } = filters;
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const ask = (part: string, ...given: readonly (string | number | undefined)[]) => {
    if (given.includes(undefined)) return;
    parts.push(part);
    values.push(...(given as readonly (string | number)[]));
  };
  ask('agent = ?', agent);
  ask('sender = ?', sender);
  const below = cwd === undefined ? undefined : cwd.endsWith('/') ? cwd : `${cwd}/`;
  ask("substr(cwd || '/', 1, length(?)) = ?", below, below);
  ask('session = ?', session);
  ask('session <> ?', exceptSession);
  ask('updated >= ?', since);
  ask('created <= ?', until);
  const clauses: string[] = [];
  if (parts.length > 0)
    clauses.push(`AND rowid / ${SLOTS} IN (SELECT id FROM sessions WHERE ${parts.join(' AND ')})`);
  if (since !== undefined || until !== undefined) {
    clauses.push(`AND (rowid % ${SLOTS} = 0 OR EXISTS
      (SELECT 1 FROM messages WHERE doc = words.rowid AND at BETWEEN ? AND ?))`);
    values.push(since ?? 0, until ?? Number.MAX_SAFE_INTEGER);
  }
  return { condition: clauses.join(' '), values };
}

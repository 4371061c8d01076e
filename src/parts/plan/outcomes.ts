// What can have come of a step.

export const OUTCOMES = ['done', 'partly', 'missing', 'dropped'] as const;

export type Outcome = (typeof OUTCOMES)[number];

// How a task can stand.

export const TASK_STATUSES = ['pending', 'in_progress', 'completed', 'deleted'] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

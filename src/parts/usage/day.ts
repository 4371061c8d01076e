// Days as a person counts them: from midnight to midnight in the time zone of this machine.

/** `2025-01-31`. Sorts by age. */
export function dayOf(milliseconds: number): string {
  const date = new Date(milliseconds);
  const pad = (number: number, digits: number) => String(number).padStart(digits, '0');
  return `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1, 2)}-${pad(date.getDate(), 2)}`;
}

/** The first moment of a day; undefined for what is no day of the calendar. */
export function startOfDay(day: string): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date)).getTime();
  return dayOf(start) === day ? start : undefined;
}

// Times as the calendar and the clock on the wall of this machine have them.

/** `2026-01-31`; `unknown` for what no calendar has. */
export function localDay(time: number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return 'unknown';
  return [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
}

/** To the minute: `2026-01-31 09:05`. */
export function localTime(time: number): string {
  const day = localDay(time);
  const at = new Date(time);
  return day === 'unknown' ? day : `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

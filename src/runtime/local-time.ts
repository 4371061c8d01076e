/** When something was, to the minute, as the clock on the wall of this machine had it. */
export function localTime(time: number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return 'unknown';
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

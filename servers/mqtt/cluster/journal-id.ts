/** Identifiers of the journal's entries, as Redis gives them: milliseconds, a dash, and a count. */
export const firstJournalId = "0-0";

function parse(id: string): [time: number, count: number] {
  const dash = id.indexOf("-");
  return [Number(id.slice(0, dash)), Number(id.slice(dash + 1))];
}

export function isLater(one: string, other: string): boolean {
  if (one === other) return false;
  const [time, count] = parse(one);
  const [otherTime, otherCount] = parse(other);
  return time > otherTime || (time === otherTime && count > otherCount);
}

export const isJournalId = (text: string): boolean => /^\d{1,16}-\d{1,16}$/.test(text);

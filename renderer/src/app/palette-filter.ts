import type { SpotlightActionData, SpotlightActionGroupData } from "@mantine/spotlight";

/** Each one that is shown costs time at each key. */
const mostFound = 50;

const textOf = ({ label = "", description = "", keywords = [] }: SpotlightActionData): string =>
  `${label} ${description} ${[keywords].flat().join(" ")}`.toLowerCase();

/** 0 for the best match: the query as it is in the title, then its words there in any order, then in all texts. Undefined without a match. */
function rankOf(action: SpotlightActionData, query: string, words: readonly string[]): number | undefined {
  const label = (action.label ?? "").toLowerCase();
  if (label.includes(query)) return 0;
  if (words.every((word) => label.includes(word))) return 1;
  const text = textOf(action);
  return words.every((word) => text.includes(word)) ? 2 : undefined;
}

/** The entries that have all words of a query, the best ones and their groups first: at most 50. Without a query all, except those of groups that are only searched. */
export function filterPalette(
  query: string,
  groups: readonly SpotlightActionGroupData[],
  searchedOnly: readonly string[] = [],
): SpotlightActionGroupData[] {
  const needle = query.trim().toLowerCase();
  if (needle === "") return groups.filter(({ group }) => !searchedOnly.includes(group));
  const words = needle.split(/\s+/);
  let room = mostFound;
  return groups
    .map(({ group, actions }) => {
      const found = actions
        .map((action) => ({ action, rank: rankOf(action, needle, words) }))
        .filter((one): one is { readonly action: SpotlightActionData; readonly rank: number } => one.rank !== undefined)
        .sort((one, other) => one.rank - other.rank);
      return { group, actions: found.map(({ action }) => action), rank: found[0]?.rank };
    })
    .filter((one): one is SpotlightActionGroupData & { readonly rank: number } => one.rank !== undefined)
    .sort((one, other) => one.rank - other.rank)
    .map(({ group, actions }) => {
      const shown = actions.slice(0, room);
      room -= shown.length;
      return { group, actions: shown };
    })
    .filter(({ actions }) => actions.length > 0);
}

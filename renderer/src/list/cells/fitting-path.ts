import { shownEnd, shownText } from "../../ui/texts/shown-text.ts";

export type PathParts = readonly [above: string, last: string, query: string];

export interface FittingPath {
  /** As they are shown. */
  readonly parts: PathParts;
  readonly isCut: boolean;
}

/**
 * A path or topic in `room` characters of a fixed-width font. People look for its last segment, so the query is cut first, then what is
 * above that segment, at its start.
 */
export function fittingPath(text: string, room: number): FittingPath {
  const segments = segmentsOf(text);
  const whole: PathParts = [shownEnd(segments[0]), shownText(segments[1]), shownText(segments[2])];
  const [above, last, query] = whole;
  const rest = room - widthOf(above) - widthOf(last);
  if (widthOf(query) <= rest) return { parts: whole, isCut: false };
  if (rest > 0) return { parts: [above, last, startOf(query, rest)], isCut: true };
  const shortQuery = query === "" ? "" : ellipsis;
  const roomAbove = room - widthOf(last) - shortQuery.length;
  if (above !== "" && roomAbove > 0) return { parts: [endOf(above, roomAbove), last, shortQuery], isCut: true };
  const shortAbove = endOf(above, 1);
  return { parts: [shortAbove, startOf(last, room - shortAbove.length), ""], isCut: true };
}

/** Only a text that begins with a slash has a query: a topic may contain "?". */
export function segmentsOf(text: string): PathParts {
  const queryStart = text.startsWith("/") ? text.indexOf("?") : -1;
  const path = queryStart < 0 ? text : text.slice(0, queryStart);
  // A slash at the end belongs to the last segment.
  const cut = path.slice(0, -1).lastIndexOf("/") + 1;
  return [path.slice(0, cut), path.slice(cut), text.slice(path.length)];
}

const ellipsis = "…";
const ascii = /^[\x20-\x7e]*$/;
/** Of two columns in a fixed-width font: East Asian scripts and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

const characterWidth = (character: string): number => (/^\p{Mark}/u.test(character) ? 0 : wide.test(character) ? 2 : 1);

function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

const startOf = (text: string, room: number): string =>
  widthOf(text) <= room ? text : `${within([...text], room - 1).join("")}${ellipsis}`;

const endOf = (text: string, room: number): string =>
  widthOf(text) <= room
    ? text
    : `${ellipsis}${within([...text].reverse(), room - 1)
        .reverse()
        .join("")}`;

function within(characters: readonly string[], room: number): string[] {
  let left = room;
  const end = characters.findIndex((character) => {
    left -= characterWidth(character);
    return left < 0;
  });
  return characters.slice(0, end < 0 ? characters.length : end);
}

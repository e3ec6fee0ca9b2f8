import { z } from "zod";
import { useRemembered } from "../ui/use-remembered.ts";
import { contentFormats, type FormatChoice } from "./content-format.ts";

/** The oldest choices are dropped. */
const keptChoices = 200;
export const formatChoices = z.array(z.tuple([z.string().max(70_000), z.enum(["auto", ...contentFormats])])).max(keptChoices);
type FormatChoices = z.infer<typeof formatChoices>;
const none: FormatChoices = [];

export function withChoice(known: FormatChoices, name: string, format: FormatChoice): FormatChoices {
  const others = known.filter(([other]) => other !== name);
  return format === "auto" ? others : [[name, format] satisfies FormatChoices[number], ...others].slice(0, keptChoices);
}

/** The format that was chosen for a topic or a route: "mqtt building/lamp", "http GET /api/data response". */
export function useRememberedFormat(name: string): readonly [FormatChoice, (format: FormatChoice) => void] {
  const [known, setKnown] = useRemembered("viewer.formats", none, formatChoices);
  const chosen = known.find(([other]) => other === name)?.[1] ?? "auto";
  return [chosen, (format) => setKnown((before) => withChoice(before, name, format))];
}

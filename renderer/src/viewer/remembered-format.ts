import { useLocalStorage } from "@mantine/hooks";
import { z } from "zod";
import { contentFormats, type FormatChoice } from "./content-format.ts";

/** The oldest choices give way. */
const keptChoices = 200;
const choices = z.array(z.tuple([z.string().max(70_000), z.enum(["auto", ...contentFormats])])).max(keptChoices);
type Choices = z.infer<typeof choices>;
const none: Choices = [];

/** Storage may hold anything: an older shape, or what somebody wrote there. */
export function readChoices(stored: string | undefined): Choices {
  try {
    return choices.safeParse(JSON.parse(stored ?? "")).data ?? none;
  } catch {
    return none;
  }
}

export function withChoice(known: Choices, name: string, format: FormatChoice): Choices {
  const others = known.filter(([other]) => other !== name);
  return format === "auto" ? others : [[name, format] as Choices[number], ...others].slice(0, keptChoices);
}

/** The format that was chosen for a topic or a route: "mqtt building/lamp", "http GET /api/data response". */
export function useRememberedFormat(name: string): readonly [FormatChoice, (format: FormatChoice) => void] {
  const [known, setKnown] = useLocalStorage<Choices>({
    key: "backlot.viewer.formats",
    defaultValue: none,
    getInitialValueInEffect: false,
    deserialize: readChoices,
  });
  const chosen = known.find(([other]) => other === name)?.[1] ?? "auto";
  return [chosen, (format) => setKnown((before) => withChoice(before, name, format))];
}

import { Button, Group } from "@mantine/core";
import { Notice } from "../../../ui/panel.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { draftOfText, type UnsavedRule } from "./rule-draft.ts";

/** Of a rule that is in the file no more. */
export function titleOfText(text: string): string {
  const { name = "", method = "" } = draftOfText(text) ?? {};
  return name || method || "Rule";
}

interface RemovedRulesProps {
  readonly rules: readonly (readonly [key: string, unsaved: UnsavedRule])[];
  readonly onOpen: (key: string) => void;
  readonly onDiscard: (key: string) => void;
}

/** Rules that were removed from the file while what was typed into them was not saved. */
export function RemovedRules({ rules, onOpen, onDiscard }: RemovedRulesProps) {
  if (rules.length === 0) return null;
  return (
    <Notice tone="warn" role="status">
      Removed meanwhile, with changes that are not saved:
      {rules.map(([key, { base }]) => {
        const title = titleOfText(base);
        return (
          <Group key={key} gap="xs" mt="xs" wrap="nowrap">
            <code style={{ overflowWrap: "anywhere" }}>{shownText(title)}</code>
            <Button size="compact-xs" aria-label={`Change the rule ${title}`} onClick={() => onOpen(key)}>
              Change
            </Button>
            <Button size="compact-xs" aria-label={`Discard the rule ${title}`} onClick={() => onDiscard(key)}>
              Discard
            </Button>
          </Group>
        );
      })}
    </Notice>
  );
}

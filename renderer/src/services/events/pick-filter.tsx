import { Button, Combobox, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { useAnswer } from "../../control/use-answer.ts";
import { Answered } from "../../ui/status/answered.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import styles from "./events-toolbar.module.css";

export interface Choice {
  readonly value: string;
  readonly events?: number;
}

interface PickFilterProps {
  /** "Device" */
  readonly title: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Called when it opens, and with each change of the search text. */
  readonly choices: (search: string) => Promise<readonly Choice[]>;
  /** A search field above the choices; the text says what it searches. */
  readonly search?: string;
  /** An id: in monospace, and shortened to its beginning on the button. */
  readonly mono?: boolean;
  readonly widthPx: number;
}

const searchAfterMs = 120;
const shownIdCharacters = 8;

const none: readonly Choice[] = [];

/** A button that shows the choice and opens the list; its first entry is always "all". */
export function PickFilter({ title, value, onChange, choices, search, mono = false, widthPx }: PickFilterProps) {
  const [text, setText] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      combobox.focusTarget();
      setText("");
    },
    onDropdownOpen: () => {
      if (search) combobox.focusSearchInput();
      combobox.selectActiveOption();
    },
  });
  const { dropdownOpened } = combobox;
  const [settled] = useDebouncedValue(text, searchAfterMs);
  const answer = useAnswer({
    key: ["events", "choices", title, settled],
    ask: () => choices(settled),
    enabled: dropdownOpened,
  });
  const { value: known = none } = answer;

  const shown = value !== "" && text === "" && !known.some((choice) => choice.value === value) ? [{ value }, ...known] : known;
  return (
    <Combobox
      store={combobox}
      width={search ? 348 : 208}
      position="bottom-start"
      shadow="md"
      // Not in a portal: it belongs to the page's landmark.
      withinPortal={false}
      onOptionSubmit={(chosen) => {
        onChange(chosen);
        combobox.closeDropdown();
      }}
    >
      <Combobox.Target targetType="button">
        <Button
          w={widthPx}
          className={styles.pick}
          data-set={value !== "" || undefined}
          rightSection={<IconChevronDown size={14} stroke={1.5} className={styles.chevron} />}
          onClick={() => combobox.toggleDropdown()}
          title={value === "" ? undefined : `${title}: ${value}`}
        >
          <span className={styles.pickTitle}>{title}</span>{" "}
          <span className={mono && value ? styles.mono : undefined}>{(mono ? value.slice(0, shownIdCharacters) : value) || "all"}</span>
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown className={styles.dropdown}>
        {search && (
          <Combobox.Search
            role="combobox"
            aria-expanded={dropdownOpened}
            value={text}
            placeholder={search}
            aria-label={search}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Combobox.Options aria-label={title} className={styles.options}>
          {text === "" && <Option value="" active={value === ""} label="all" />}
          {shown.map((choice) => (
            <Option key={choice.value} {...choice} active={choice.value === value} label={choice.value} mono={mono} />
          ))}
          {answer.value && shown.length === 0 && <Combobox.Empty>{text === "" ? "No event names one yet" : "No matches"}</Combobox.Empty>}
        </Combobox.Options>
        <Answered answer={answer} what="the choices" compact>
          {() => null}
        </Answered>
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface OptionProps extends Choice {
  readonly label: string;
  readonly active: boolean;
  readonly mono?: boolean;
}

function Option({ value, label, active, mono = false, events }: OptionProps) {
  return (
    <Combobox.Option value={value} active={active} className={styles.option}>
      <IconCheck size={14} style={{ visibility: active ? "visible" : "hidden" }} aria-hidden="true" />
      <span className={mono ? styles.optionMono : styles.optionName}>{label}</span>
      {events !== undefined && <span className={styles.optionCount}>{formatCount(events)}</span>}
    </Combobox.Option>
  );
}

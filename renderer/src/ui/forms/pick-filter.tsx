import { Button, Combobox, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import { useAnswer } from "../../control/use-answer.ts";
import { Answered } from "../status/answered.tsx";
import { formatCount } from "../texts/quantity.ts";
import { shownText } from "../texts/shown-text.ts";
import styles from "./pick-filter.module.css";

export interface Choice {
  readonly value: string;
  /** In place of the value. */
  readonly label?: string;
  /** How many items have it. */
  readonly count?: number;
  /** It belongs to the choice above it. */
  readonly isNested?: boolean;
}

interface PickFilterProps {
  readonly service: ServiceId;
  /** "Device" */
  readonly title: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Called when it opens, and with each change of the search text. */
  readonly choices: (search: string) => Promise<readonly Choice[]>;
  /** Of choices that come and go: they are asked for again when it changes while the list is open. */
  readonly version?: unknown;
  /** A search field above the choices; the text says what it searches. */
  readonly search?: string;
  /** Where there is no choice yet. */
  readonly none?: string;
  /** Ids and names of a protocol are in monospace. */
  readonly mono?: boolean;
  /** The value on the button. */
  readonly shown?: (value: string) => string;
  readonly widthPx: number;
}

const searchAfterMs = 120;
const noChoices: readonly Choice[] = [];
const asIs = (value: string) => value;

/** A button that shows the choice and opens the list; its first entry is always "all". */
export function PickFilter(props: PickFilterProps) {
  const {
    service,
    title,
    value,
    onChange,
    choices,
    version,
    search,
    none = "Nothing to choose yet",
    mono = false,
    shown = asIs,
    widthPx,
  } = props;
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
    key: [service, "choices", title, settled],
    ask: () => choices(settled),
    enabled: dropdownOpened,
    version,
  });
  const { value: known = noChoices } = answer;

  const listed = value !== "" && text === "" && !known.some((choice) => choice.value === value) ? [{ value }, ...known] : known;
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
          title={value === "" ? undefined : shownText(`${title}: ${value}`)}
        >
          <span className={styles.pickTitle}>{title}</span>{" "}
          <span className={mono && value ? styles.mono : undefined}>{value === "" ? "all" : shownText(shown(value))}</span>
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
          {listed.map((choice) => (
            <Option key={choice.value} {...choice} active={choice.value === value} label={choice.label ?? choice.value} mono={mono} />
          ))}
          {answer.value && listed.length === 0 && <Combobox.Empty>{text === "" ? none : "No matches"}</Combobox.Empty>}
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

function Option({ value, label, active, mono = false, count, isNested }: OptionProps) {
  return (
    <Combobox.Option value={value} active={active} className={styles.option}>
      <IconCheck size={14} style={{ visibility: active ? "visible" : "hidden" }} aria-hidden="true" />
      <span className={mono ? styles.optionMono : styles.optionName} data-nested={isNested || undefined} title={shownText(label)}>
        {shownText(label)}
      </span>
      {count !== undefined && <span className={styles.optionCount}>{formatCount(count)}</span>}
    </Combobox.Option>
  );
}

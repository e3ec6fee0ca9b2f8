import { ActionIcon, Group, Kbd, TextInput } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import { type ReactNode, useRef } from "react";
import { useCommands } from "../commands.ts";

interface FilterInputProps {
  readonly value: string;
  onChange(value: string): void;
  /** "Filter topics", or what is searched: "Path, client, body". */
  readonly placeholder: string;
  /** What else it takes, as a tooltip. */
  readonly hint?: string;
  readonly width?: number | string;
  /** At the end of the field, while there is a text: what else is searched. */
  readonly options?: ReactNode;
  /** Arrow down moves the focus to the filtered list. */
  onDown?(): void;
  /** `/` anywhere on the page focuses it; only for the page's main filter. */
  readonly slash?: boolean;
  /** Gets the focus when it is mounted. */
  readonly focused?: boolean;
}

/** Width of the options, with the key or the button to clear. */
const optionsPx = 54;
/** The longest filter that services accept. */
const longestFilter = 100;

/** Escape clears it, then removes the focus. */
export function FilterInput({
  value,
  onChange,
  placeholder,
  hint,
  width = 230,
  slash = true,
  focused = false,
  options,
  onDown,
}: FilterInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useCommands(slash ? [{ id: "filter", title: "Go to the filter", key: "filter", run: () => input.current?.select() }] : []);
  const clear = (
    <ActionIcon
      aria-label="Clear the filter"
      onClick={() => {
        onChange("");
        input.current?.focus();
      }}
    >
      <IconX size={12} />
    </ActionIcon>
  );
  const empty = value ? clear : slash && <Kbd aria-hidden="true">/</Kbd>;
  return (
    <TextInput
      ref={input}
      w={width}
      // Half of it is free for the pointer.
      miw={options === undefined ? 96 : 2 * optionsPx + 12}
      styles={{ input: { textOverflow: "ellipsis" } }}
      value={value}
      maxLength={longestFilter}
      autoFocus={focused}
      placeholder={placeholder}
      title={hint}
      aria-label={
        placeholder.startsWith("Filter") ? placeholder : `Filter by ${placeholder.charAt(0).toLowerCase()}${placeholder.slice(1)}`
      }
      spellCheck={false}
      autoComplete="off"
      leftSection={<IconSearch size={14} stroke={1.5} />}
      {...(options !== undefined && { rightSectionWidth: optionsPx })}
      rightSection={
        options === undefined ? (
          empty
        ) : (
          <Group gap={2} w="100%" pr={4} justify="flex-end" wrap="nowrap">
            {options}
            {empty}
          </Group>
        )
      }
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "ArrowDown" && onDown) {
          event.preventDefault();
          onDown();
        }
        if (event.key !== "Escape") return;
        event.stopPropagation();
        if (value) onChange("");
        else event.currentTarget.blur();
      }}
    />
  );
}

import { ActionIcon, Kbd, TextInput } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useRef } from "react";
import { useCommands } from "../commands.ts";

interface FilterInputProps {
  readonly value: string;
  onChange(value: string): void;
  /** "Filter topics", or what is searched: "Path, client, body". */
  readonly placeholder: string;
  readonly width?: number | string;
  /** Arrow down moves the focus to the filtered list. */
  onDown?(): void;
  /** `/` anywhere on the page focuses it; only for the page's main filter. */
  readonly slash?: boolean;
  /** Gets the focus when it is mounted. */
  readonly focused?: boolean;
}

/** The longest filter that services accept. */
const longestFilter = 100;

/** Escape clears it, then removes the focus. */
export function FilterInput({ value, onChange, placeholder, width = 230, slash = true, focused = false, onDown }: FilterInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useCommands(slash ? [{ id: "filter", title: "Go to the filter", key: "filter", run: () => input.current?.select() }] : []);
  const clear = (
    <ActionIcon
      size={18}
      aria-label="Clear the filter"
      onClick={() => {
        onChange("");
        input.current?.focus();
      }}
    >
      <IconX size={12} />
    </ActionIcon>
  );
  return (
    <TextInput
      ref={input}
      w={width}
      miw={96}
      styles={{ input: { textOverflow: "ellipsis" } }}
      value={value}
      maxLength={longestFilter}
      autoFocus={focused}
      placeholder={placeholder}
      aria-label={
        placeholder.startsWith("Filter") ? placeholder : `Filter by ${placeholder.charAt(0).toLowerCase()}${placeholder.slice(1)}`
      }
      spellCheck={false}
      autoComplete="off"
      leftSection={<IconSearch size={14} stroke={1.5} />}
      rightSection={value ? clear : slash && <Kbd aria-hidden="true">/</Kbd>}
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

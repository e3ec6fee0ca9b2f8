import { ActionIcon, Group, Kbd, TextInput } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { useCommands } from "../commands.ts";

interface FilterInputProps {
  readonly value: string;
  onChange(value: string): void;
  /** "Filter topics", or what is searched: "Path, client, body". It is shown where it fits, and is the name of the field. */
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

/** Of a placeholder that does not fit. */
const shortOf = (placeholder: string): string => (placeholder.startsWith("Filter") ? placeholder.split(",", 1)[0] : undefined) ?? "Filter";

/** Whether the field has room for a text; measured again when its width changes or the fonts were loaded. */
function useHasRoom(field: RefObject<HTMLInputElement | null>, text: string): boolean {
  const [hasRoom, setHasRoom] = useState(true);
  useEffect(() => {
    const { current } = field;
    const pen = document.createElement("canvas").getContext("2d");
    if (!current || !pen) return;
    const measure = () => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(current);
      pen.font = font;
      setHasRoom(pen.measureText(text).width <= current.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
    };
    const resize = new ResizeObserver(measure);
    resize.observe(current);
    document.fonts.addEventListener("loadingdone", measure);
    return () => {
      resize.disconnect();
      document.fonts.removeEventListener("loadingdone", measure);
    };
  }, [field, text]);
  return hasRoom;
}

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
  const hasRoom = useHasRoom(input, placeholder);
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
      placeholder={hasRoom ? placeholder : shortOf(placeholder)}
      title={hasRoom ? hint : [placeholder, hint].filter(Boolean).join(". ")}
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

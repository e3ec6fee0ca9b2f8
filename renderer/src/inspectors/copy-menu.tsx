import { Button, Menu } from "@mantine/core";
import { IconCheck, IconChevronDown, IconCopy } from "@tabler/icons-react";
import { useCopy } from "../ui/copy/copy-button.tsx";
import { useRemembered } from "../ui/use-remembered.ts";

export interface CopyChoice {
  readonly id: string;
  /** "curl" */
  readonly title: string;
  readonly text: () => string | Promise<string>;
}

interface CopyMenuProps {
  /** Menus of one kind share the last choice. */
  readonly rememberAs: string;
  /** The first one is the default. */
  readonly choices: readonly CopyChoice[];
}

/** Copies the inspected row as a command or program; the button repeats the last choice. */
export function CopyMenu({ rememberAs, choices }: CopyMenuProps) {
  const [chosen, setChosen] = useRemembered<string>(rememberAs, choices[0]?.id ?? "");
  const [copied, copyNow] = useCopy();
  const offered = choices.find(({ id }) => id === chosen) ?? choices[0];
  if (!offered) return null;
  const copy = (choice: CopyChoice) => {
    setChosen(choice.id);
    copyNow(new Promise((resolve) => resolve(choice.text())));
  };
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <Button.Group>
      <Button onClick={() => copy(offered)} leftSection={<Icon size={14} stroke={1.5} />}>
        {copied ? "Copied" : `Copy as ${offered.title}`}
      </Button>
      <Menu position="bottom-end" withinPortal={false}>
        <Menu.Target>
          <Button px={5} aria-label="Copy as…">
            <IconChevronDown size={14} stroke={1.5} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {choices.map((choice) => (
            <Menu.Item key={choice.id} onClick={() => copy(choice)}>
              {choice.title}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  );
}

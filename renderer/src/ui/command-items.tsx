import { Kbd, Menu } from "@mantine/core";
import { type Command, shortcuts } from "./commands.ts";

/** Commands as the entries of a menu; those that cannot be run now are shown and disabled. */
export const CommandItems = ({ commands }: { readonly commands: readonly Command[] }) =>
  commands.map(({ id, title, key, when, run }) => (
    <Menu.Item
      key={id}
      disabled={when?.() === false}
      rightSection={key && <Kbd>{shortcuts[key].keys.join(" ")}</Kbd>}
      onClick={() => run()}
    >
      {title}
    </Menu.Item>
  ));

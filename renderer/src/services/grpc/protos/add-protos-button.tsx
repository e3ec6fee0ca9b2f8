import { Button, FileButton, Menu } from "@mantine/core";
import { IconChevronDown, IconPlus } from "@tabler/icons-react";
import { useRef } from "react";
import { CommandItems } from "../../../ui/command-items.tsx";
import { type Command, useCommands } from "../../../ui/commands.ts";
import { chosenFiles } from "./dropped-files.ts";
import type { AddProtos } from "./use-add-protos.ts";

const fileNames = ".proto,.binpb,.bin,.pb,.desc,.protoset,.fds,.json";
/** The attribute is not standard, so React's types do not always have it. */
const ofFolder = { webkitdirectory: "" } as Record<string, string>;

export const addProtosCommands = [
  { id: "grpc-protos-files", title: "Add protocol files…" },
  { id: "grpc-protos-folder", title: "Add a folder with protocol files…" },
] as const;

/** Chooses protocol files or a folder with them. */
export function AddProtosButton({ onAdd }: { readonly onAdd: AddProtos["add"] }) {
  const pickFiles = useRef<() => void>(null);
  const pickFolder = useRef<() => void>(null);
  const resetFiles = useRef<() => void>(null);
  const resetFolder = useRef<() => void>(null);
  const choices: readonly Command[] = [
    { ...addProtosCommands[0], run: () => pickFiles.current?.() },
    { ...addProtosCommands[1], run: () => pickFolder.current?.() },
  ];
  useCommands(choices);
  const take = (files: readonly File[], reset: (() => void) | null) => {
    if (files.length > 0) onAdd(chosenFiles(files));
    // The same files can be chosen again.
    reset?.();
  };
  return (
    <>
      <FileButton
        multiple
        accept={fileNames}
        resetRef={resetFiles}
        onChange={(files) => take(files, resetFiles.current)}
        inputProps={{ "aria-label": "Protocol files to add" }}
      >
        {({ onClick }) => {
          pickFiles.current = onClick;
          return null;
        }}
      </FileButton>
      <FileButton
        multiple
        resetRef={resetFolder}
        onChange={(files) => take(files, resetFolder.current)}
        inputProps={{ "aria-label": "Folder of protocol files to add", ...ofFolder }}
      >
        {({ onClick }) => {
          pickFolder.current = onClick;
          return null;
        }}
      </FileButton>
      <Menu position="bottom-end" width={248} withinPortal={false}>
        <Menu.Target>
          <Button leftSection={<IconPlus size={14} stroke={1.5} />} rightSection={<IconChevronDown size={14} stroke={1.5} />}>
            Add protos…
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <CommandItems commands={choices} />
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

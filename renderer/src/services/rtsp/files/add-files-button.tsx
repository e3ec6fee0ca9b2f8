import { Button, FileButton } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useRef } from "react";
import { useCommands } from "../../../ui/commands.ts";
import type { AddFiles } from "./use-add-files.ts";

export const addFiles = { id: "rtsp-files", title: "Add MP4 files…" } as const;

/** Chooses MP4 files. */
export function AddFilesButton({ onAdd }: { readonly onAdd: AddFiles["add"] }) {
  const pick = useRef<() => void>(null);
  const reset = useRef<() => void>(null);
  useCommands([{ ...addFiles, run: () => pick.current?.() }]);
  const take = (files: readonly File[]) => {
    if (files.length > 0) onAdd(files);
    // The same file can be chosen again.
    reset.current?.();
  };
  return (
    <FileButton
      multiple
      accept="video/mp4,audio/mp4,.mp4,.m4v,.m4a,.mov"
      resetRef={reset}
      onChange={take}
      inputProps={{ "aria-label": "MP4 files to add" }}
    >
      {({ onClick }) => {
        pick.current = onClick;
        return (
          <Button leftSection={<IconPlus size={14} stroke={1.5} />} onClick={onClick}>
            Add MP4…
          </Button>
        );
      }}
    </FileButton>
  );
}

import { hashOf } from "../../app/route.ts";
import { InspectorNote } from "../../inspectors/inspector-frame.tsx";
import { clockSeconds } from "../../ui/texts/time.ts";
import { useAppInfo } from "../settings/about.tsx";

/** Why there are no details of a row, and what to do. */
export function NotKept({ at }: { readonly at: number | undefined }) {
  const { value: info } = useAppInfo();
  if (info && at !== undefined && at < info.startedAt) {
    return (
      <InspectorNote>
        {`Recorded before Backlot was started again, at ${clockSeconds(info.startedAt)}. Traffic is kept in memory only, so the details of this row are gone. If the list is paused, resume it to see newer rows. To keep rows over a restart, export them.`}
      </InspectorNote>
    );
  }
  return (
    <InspectorNote>
      No longer kept: newer rows replaced it, or the list was cleared. How many rows are kept is set in{" "}
      <a href={hashOf({ page: "settings" })}>Settings</a>.
    </InspectorNote>
  );
}

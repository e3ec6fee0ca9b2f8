import cell from "../../list/cell.module.css";
import { isoTime } from "../../ui/time.ts";
import { apiTime, wallTime } from "./wall-time.ts";

/** When a user last logged in, in local time; the API tells it to the second. */
export function LastLogin({ of }: { readonly of: string }) {
  const at = apiTime(of);
  if (at === undefined) return <span className={cell.quiet}>never</span>;
  return (
    <span className={cell.softMono} title={isoTime(at)}>
      {wallTime(at)}
    </span>
  );
}

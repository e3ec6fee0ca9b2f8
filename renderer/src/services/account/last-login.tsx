import { isoTime } from "../../ui/time.ts";
import styles from "./account.module.css";
import { apiTime, wallTime } from "./wall-time.ts";

/** When a user last logged in, in local time; the API tells it to the second. */
export function LastLogin({ of }: { readonly of: string }) {
  const at = apiTime(of);
  if (at === undefined) return <span className={styles.quiet}>never</span>;
  return (
    <span className={styles.softMono} title={isoTime(at)}>
      {wallTime(at)}
    </span>
  );
}

import { useService } from "../../control/use-store.ts";
import { LiveList } from "../http/live-list.tsx";
import { accountColumns } from "./account-columns.tsx";
import { AccountEmpty } from "./account-empty.tsx";
import { accountOrigin } from "./account-origin.ts";
import { useAccountViews } from "./use-account-views.ts";

/** Calls as they pass: who made them, and why one was refused. */
export function AccountLive() {
  const service = useService("account");
  const sampling = useAccountViews().sample?.running ?? false;
  return (
    <LiveList
      id="account"
      columns={accountColumns}
      placeholder="Filter path, user, reason"
      origin={accountOrigin(service)}
      sampling={sampling}
      empty={<AccountEmpty service={service} sampling={sampling} />}
    />
  );
}

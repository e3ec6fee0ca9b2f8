import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { Caption } from "../../../ui/panel.tsx";
import { AuthorityActions } from "../../../ui/services/authority-actions.tsx";
import styles from "./grpc-try.module.css";

/** Clients refuse a service whose certificate they do not trust. */
export function AuthorityNote() {
  const client = useControl();
  const { value } = useAnswer({ key: ["certificate authority"], ask: () => client.call("certificate.authority") });
  if (!value) return null;
  return (
    <div className={styles.trust}>
      <Caption grow title={value.file}>
        authority.pem is the certificate of Backlot’s authority.
      </Caption>
      <AuthorityActions authority={value} />
    </div>
  );
}

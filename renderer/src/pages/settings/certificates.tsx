import type { AuthorityView } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { AuthorityActions } from "../../ui/services/authority-actions.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { isoTime } from "../../ui/texts/time.ts";
import { SettingRow, SettingsSection, settingTexts } from "./setting-row.tsx";
import styles from "./settings-page.module.css";

/** The certificate authority of this installation. */
export function Certificates() {
  const client = useControl();
  const answer = useAnswer({ key: ["certificate authority"], ask: () => client.call("certificate.authority") });
  return (
    <SettingsSection title="Certificates">
      <Answered answer={answer} what="the certificate authority" compact>
        {(authority) => <Authority authority={authority} />}
      </Answered>
    </SettingsSection>
  );
}

function Authority({ authority }: { readonly authority: AuthorityView }) {
  return (
    <>
      <SettingRow label={settingTexts.authority.label} help="It signs the TLS certificates of all services.">
        <AuthorityActions authority={authority} />
      </SettingRow>
      <SettingRow label="Subject">
        <span className={styles.value}>{authority.subject}</span>
      </SettingRow>
      <SettingRow label="SHA-256 fingerprint">
        <span className={styles.value}>
          <code className={styles.fingerprint}>{authority.fingerprint}</code>
        </span>
      </SettingRow>
      <SettingRow label="Valid until">
        <time className={styles.value} dateTime={isoTime(authority.validUntil)}>
          {isoTime(authority.validUntil).slice(0, 10)}
        </time>
      </SettingRow>
    </>
  );
}

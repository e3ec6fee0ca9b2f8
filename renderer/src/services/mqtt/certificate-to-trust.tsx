import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { MqttCertificate } from "../../../../contract/services/mqtt.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import styles from "./certificate-to-trust.module.css";

/** Clients refuse a broker whose certificate they do not trust: here it is to be had. */
export function CertificateToTrust({ certificate }: { readonly certificate: MqttCertificate | null | undefined }) {
  if (!certificate) return <p className={styles.trust}>Its certificate can be saved here once it runs.</p>;
  if (!certificate.isSelfMade)
    return <p className={styles.trust}>ca.pem is the file of the authority that signed the broker’s certificate.</p>;
  return (
    <div className={styles.trust}>
      <span title={certificate.file}>The lines trust the broker’s own certificate; on another machine save it first.</span>
      <Button
        size="compact-xs"
        leftSection={<IconDownload size={13} stroke={1.5} />}
        onClick={() => saveFile("backlot-mqtt-ca.pem", certificate.pem, "application/x-pem-file")}
      >
        Save the CA
      </Button>
      <CopyButton text={certificate.pem} what="the CA certificate" size={24} />
    </div>
  );
}

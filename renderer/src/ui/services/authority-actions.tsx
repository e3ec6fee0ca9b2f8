import { Button, Tabs } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { fromBase64 } from "../../viewer/decode/bytes.ts";
import { CommandLine } from "../copy/command-line.tsx";
import { CopyButton } from "../copy/copy-button.tsx";
import { saveFile } from "../copy/files.ts";
import { Dialog } from "../forms/dialog.tsx";
import { Note } from "../panel.tsx";
import { TabList } from "../tab-list.tsx";
import styles from "./authority-actions.module.css";
import { trustSteps } from "./trust-steps.ts";

interface AuthorityActionsProps {
  /** Its certificate: path on Backlot's machine, and text. */
  readonly authority: { readonly file: string; readonly pem: string };
}

/** Saves and copies the certificate of Backlot's authority, with instructions to trust it. */
export function AuthorityActions({ authority: { file, pem } }: AuthorityActionsProps) {
  const [isOpen, setIsOpen] = useState(false);
  const icon = <IconDownload size={13} stroke={1.5} />;
  return (
    <span className={styles.actions}>
      <Button size="compact-xs" leftSection={icon} onClick={() => saveFile("backlot-authority.pem", pem, "application/x-pem-file")}>
        Save PEM
      </Button>
      <Button
        size="compact-xs"
        leftSection={icon}
        title="In DER, for iOS and Android"
        onClick={() => saveFile("backlot-authority.cer", derOf(pem), "application/x-x509-ca-cert")}
      >
        Save .cer for phones
      </Button>
      <CopyButton text={pem} what="the certificate of the authority" />
      <Button size="compact-xs" variant="subtle" onClick={() => setIsOpen(true)}>
        How to trust it
      </Button>
      <Dialog opened={isOpen} title="Trust Backlot’s certificates" size="lg" onClose={() => setIsOpen(false)}>
        <p className={styles.note}>
          The services’ TLS certificates are signed by this installation’s own authority. Trust it only on devices that you test with, and
          keep its key, in the data folder, to yourself.
        </p>
        <Tabs defaultValue="Linux">
          <TabList label="System or program" tabs={trustSteps(file).map(({ name }) => ({ name, title: name }))} />
          {trustSteps(file).map(({ name, commands = [], steps = [] }) => (
            <Tabs.Panel key={name} value={name} className={styles.steps}>
              {commands.map(({ command, on }) => (
                <div key={command} className={styles.step}>
                  {on !== undefined && <p className={styles.on}>{on}</p>}
                  <CommandLine command={command} wraps />
                </div>
              ))}
              {steps.length > 1 ? (
                <ol className={styles.list}>
                  {steps.map((step) => (
                    <li key={step}>{step}</li>
                  ))}
                </ol>
              ) : (
                steps.map((step) => (
                  <p key={step} className={styles.note}>
                    {step}
                  </p>
                ))
              )}
            </Tabs.Panel>
          ))}
        </Tabs>
      </Dialog>
    </span>
  );
}

interface AuthorityNoteProps extends AuthorityActionsProps {
  readonly children: string;
}

/** A line that says why a client needs the certificate, with the buttons to save it. */
export const AuthorityNote = ({ authority, children }: AuthorityNoteProps) => (
  <div className={styles.line}>
    <Note className={styles.why} title={authority.file}>
      {children}
    </Note>
    <AuthorityActions authority={authority} />
  </div>
);

/** A PEM text is the DER form in base64, between two lines. */
const derOf = (pem: string): Uint8Array<ArrayBuffer> => fromBase64(pem.replace(/-----[^-]+-----|\s/g, ""));

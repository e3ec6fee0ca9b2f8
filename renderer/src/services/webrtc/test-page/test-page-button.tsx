import { Button } from "@mantine/core";
import { useState } from "react";
import type { WebrtcTestPageViews } from "../../../../../contract/services/webrtc-test-page.ts";
import { viewsOf } from "../../../control/use-store.ts";
import { CommandLine } from "../../../ui/copy/command-line.tsx";
import { Dialog } from "../../../ui/forms/dialog.tsx";
import { Note } from "../../../ui/panel.tsx";
import { QrCodePicture } from "../../../ui/qr-code.tsx";
import styles from "./test-page-button.module.css";

const useTestPage = viewsOf<WebrtcTestPageViews>("webrtc");

/** Where the service's test page is: on this computer and, open to the LAN, for a phone to scan. */
export function TestPageButton() {
  const [isOpen, setOpen] = useState(false);
  const page = useTestPage("testPage");
  if (!page) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Test page…</Button>
      <Dialog opened={isOpen} title="Test page" onClose={() => setOpen(false)}>
        <p className={styles.text}>
          Open it in two browsers and join the same room: they call one another, with a camera or a test picture, and show how they are
          connected.
        </p>
        <CommandLine command={page.local} />
        {page.lan.map(({ url, qr }) => (
          <div key={url} className={styles.lan}>
            <QrCodePicture qr={qr} label={`Code of ${url}`} />
            <CommandLine command={url} />
          </div>
        ))}
        <p className={styles.text}>
          {page.lan.length > 0
            ? "Phones need https for their camera, and warn of the certificate until they trust Backlot’s authority: the page’s tab Phone has its certificate and says how."
            : page.openToLan
              ? "This computer has no address in a network."
              : "To open it on a phone, switch “Open to the LAN” on in Config: its code to scan is shown here then."}
        </p>
        {page.authority && (
          <Note className={styles.fingerprint}>{`SHA-256 fingerprint of the authority: ${page.authority.fingerprint}`}</Note>
        )}
      </Dialog>
    </>
  );
}

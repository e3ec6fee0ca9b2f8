import type { ReactNode } from "react";
import styles from "./settings-page.module.css";

/** Settings of the program: their page and the palette call them by the same names. */
export const settingTexts = {
  startAtLaunch: { label: "Start together with Backlot", keywords: "launch autostart" },
  keepRunningInTray: { label: "Keep running in the tray", keywords: "close window" },
  keptRows: { label: "Rows of each service", keywords: "kept traffic history limit" },
  trafficMebibytes: { label: "Memory of all services", keywords: "kept traffic MiB limit" },
  authority: { label: "Certificate authority", keywords: "certificates TLS HTTPS trust download" },
  shortcuts: { label: "Keyboard", keywords: "keys shortcuts" },
  about: { label: "About", keywords: "version data folder licences" },
} as const;

export function SettingsSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={title}>
      <h2 className={styles.heading}>{title}</h2>
      {children}
    </section>
  );
}

/** `name` is the id of the control that the label is for. */
export function SettingRow({ label, help, name, children }: { label: string; help?: string; name?: string; children: ReactNode }) {
  return (
    <div className={styles.row}>
      <div className={help && styles.explained}>
        {name ? (
          <label className={styles.label} htmlFor={name}>
            {label}
          </label>
        ) : (
          <span className={styles.label}>{label}</span>
        )}
        {help && <p className={styles.help}>{help}</p>}
      </div>
      {children}
    </div>
  );
}

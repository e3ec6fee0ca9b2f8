import type { ReactNode } from "react";
import styles from "./settings-page.module.css";

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
      <div>
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

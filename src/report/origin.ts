import { inertLine } from './inert.ts';
import { webLink } from './links.ts';
import type { Report } from './schema.ts';
import { fitted, type Style } from './style.ts';

const BETWEEN = ' · ';

/** What a plan was made from and what it is called: service, commit, digest. The digest is what `--expect-plan` takes. */
export function originLines({ service, commit, plan_digest: digest }: Report, style: Style): readonly string[] {
  const parts = [
    service === null ? [] : [inertLine(service)],
    commit === null ? [] : [`commit ${inertLine(commit).slice(0, 12)}`],
    digest === null ? [] : [`plan ${digest}`],
  ].flat();
  return rowsOf(parts, style).flatMap((row) => fitted(style.colours.dim(linkedAddresses(row, style)), style, 2));
}

/** As many parts in a row as fit: none is broken that fits in a row of its own. */
function rowsOf(parts: readonly string[], { screen }: Style): readonly string[] {
  const rows: string[] = [];
  for (const part of parts) {
    const longer = `${rows.at(-1)}${BETWEEN}${part}`;
    const fits = rows.length > 0 && (screen === null || screen.width(longer) <= screen.columns);
    if (fits) rows[rows.length - 1] = longer;
    else rows.push(part);
  }
  return rows;
}

/** Of several services each has its own. */
function linkedAddresses(text: string, style: Style): string {
  return text.replaceAll(/https?:\/\/[^\s,]+/g, (address) => webLink(address, address, style));
}

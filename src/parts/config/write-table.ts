// A table as a TOML file (toml.io, version 1.0), for settings that come from elsewhere than a person's editor.

export async function tableText(table: Readonly<Record<string, unknown>>): Promise<string> {
  const { stringify } = await import('smol-toml');
  return stringify(table);
}

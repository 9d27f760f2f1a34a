/** Saves an answer of the server as a file; returns its name, or null if it is none. */
export async function saveAnswer(answer) {
  const [, coded] = answer.headers.get("content-disposition")?.match(/filename\*=UTF-8''([^;]+)/) ?? [];
  if (!answer.ok || !coded) return null;
  const name = decodeURIComponent(coded);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return name;
}

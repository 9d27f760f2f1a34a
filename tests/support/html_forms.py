"""Forms as a browser without scripts reads them: what each control sends, by HTML's rules."""

from dataclasses import dataclass

from lxml import html

_CONTROLS = "self::input or self::select or self::textarea or self::button"
_CHOSEN = ("checkbox", "radio")


@dataclass(frozen=True)
class Control:
    """A control: its tag, its type, its name and its value, what it sends by itself, and where a button sends it."""

    tag: str
    type: str
    name: str
    value: str
    sends: tuple[str, ...]
    formaction: str

    @property
    def is_button(self) -> bool:
        """Whether it sends the form."""
        return self.tag == "button"


@dataclass(frozen=True)
class Form:
    """A form of a page, with all controls that belong to it, also those outside that name it, in their order."""

    action: str
    method: str
    controls: tuple[Control, ...]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """What is sent beside the button that is pressed."""
        return [
            (control.name, text)
            for control in self.controls
            if not control.is_button
            for text in control.sends
        ]

    def values(self, name: str) -> list[str]:
        """The values of all controls of a name, chosen or not."""
        return [control.value for control in self.controls if control.name == name]


def read_forms(page: str) -> list[Form]:
    """The forms of a page."""
    return [_read(form) for form in html.document_fromstring(page).iter("form")]


def read_form(page: str, form_id: str) -> Form:
    """The form of this id."""
    (form,) = html.document_fromstring(page).xpath("//form[@id=$id]", id=form_id)
    return _read(form)


def _read(form: html.HtmlElement) -> Form:
    inside = f".//*[({_CONTROLS}) and not(@form)]"
    # Else nothing outside can name it, and a page with many forms would be read once for each.
    if named := form.get("id"):
        inside += f" | //*[({_CONTROLS}) and @form=$id]"
    controls = form.xpath(inside, id=named or "")
    return Form(form.get("action", ""), form.get("method", "get").lower(), tuple(map(_control, controls)))


def _control(element: html.HtmlElement) -> Control:
    of_type, value = element.get("type", ""), element.get("value", "")
    sends: tuple[str, ...] = (value,)
    if element.tag == "textarea":
        # The line break right behind the tag is none; line breaks are sent as CR LF.
        sends = ((element.text or "").removeprefix("\n").replace("\n", "\r\n"),)
    elif element.tag == "select":
        options = [
            (option.get("value", ""), "selected" in option.attrib) for option in element.iter("option")
        ]
        chosen = [text for text, selected in options if selected] or [text for text, _ in options[:1]]
        sends = tuple(chosen[-1:])
    elif of_type in _CHOSEN:
        sends = (value,) if "checked" in element.attrib else ()
    elif element.tag == "input":
        sends = (value.replace("\n", "").replace("\r", ""),)
    return Control(element.tag, of_type, element.get("name", ""), value, sends, element.get("formaction", ""))

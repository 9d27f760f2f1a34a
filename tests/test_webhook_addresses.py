"""Where webhooks go: to public addresses by https alone, whatever a name says of itself, and not for long."""

import socket
import ssl
import time
from collections.abc import Sequence

import pytest

from server.inputs import InputError
from server.web.webhooks.posting import Poster, PostingError, SocketAddress, Trouble
from server.web.webhooks.receivers import Receiver, is_public, parse_receiver, split_receiver
from server.web.webhooks.signatures import sign
from tests.support.webhook_receivers import NAME, URL, Answer, make_certificate, make_poster, receiving, reply

FORBIDDEN = {
    "this machine": ("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::"),  # noqa: S104
    "networks of one's own": (
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "fc00::1",
        "fd12::1",
    ),
    "a provider's": ("100.64.0.1", "100.127.255.255"),
    "the link": ("169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1"),
    "many at once": ("224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "ff0e::1"),
    "reserved": ("240.0.0.1", "192.0.0.8", "192.88.99.1", "198.18.0.1", "100::1", "2001:2::1", "2001:10::1"),
    "examples": ("192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"),
    "mapped": ("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1"),
    "6to4 and Teredo": ("2002:7f00:1::1", "2002:808:808::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    "NAT64": ("64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1"),
    "ISATAP": ("2606:4700:1:2:0:5efe:7f00:1", "2606:4700:1:2:200:5efe:808:808"),
    "6bone": ("3ffe::1",),
    "none": ("", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "1.2.3", "127.1"),
}
PUBLIC = (
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "192.0.1.1",
    "2606:4700::1111",
    "2a00:1450::1",
    "2a00::1:5efe:7f00:1",
)


@pytest.mark.parametrize("address", [each for kind in FORBIDDEN.values() for each in kind])
def test_no_address_that_is_not_public_is_reached(address: str) -> None:
    assert not is_public(address)
    assert isinstance(failure(Poster(resolve=lambda *_: [(socket.AF_INET6, (address, 443))])), Trouble)
    with pytest.raises(InputError):
        parse_receiver(f"https://{f'[{address}]' if ':' in address else address}/")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/",
        "ftp://hooks.example.org/",
        "hooks.example.org",
        "//hooks.example.org/",
        "https://",
        "https:///x",
        "https://localhost/",
        "https://LOCALHOST./",
        "https://hooks.example.org./",
        "https://printer.local/",
        "https://x.localhost/",
        "https://x.onion/",
        "https://vault.internal/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.0.0.1/",
        "https://8.8.8.8/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://name@hooks.example.org/",
        "https://:secret@hooks.example.org/",
        "https://hooks.example.org@127.0.0.1/",
        "https://hooks.example.org\\@127.0.0.1/",
        "https://hooks.example.org#@127.0.0.1/",
        "https://hooks.example.org:22/",
        "https://hooks.example.org:80/",
        "https://hooks.example.org:99999/",
        "https://hooks.example.org:0/",
        "https://hooks.example.org:x/",
        "https://hooks.example.org:/",
        "https://hooks.example.org/ x",
        "https://hooks.example.org/\r\nHost: x",
        "https://hooks.example.org/é",
        "https://ʜooks.example.org/",
        "https://hooks..example.org/",
        "https://-hooks.example.org/",
        "https://hooks.example.org/" + "x" * 500,
        "",
    ],
)
def test_what_is_no_address_of_a_public_program_is_refused(url: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_receiver(url)
    assert (refused.value.status, refused.value.problems[0].field) == (422, "url")


def test_an_address_keeps_its_path_and_what_follows() -> None:
    assert split_receiver(parse_receiver(" https://Hooks.Example.org:8443/a/b?c=d ")) == Receiver(
        "hooks.example.org", 8443, "/a/b?c=d"
    )
    assert split_receiver(parse_receiver("https://hooks.example.org?c")) == Receiver(
        "hooks.example.org", 443, "/?c"
    )


def failure(poster: Poster) -> Trouble | None:
    """Why nothing was answered."""
    try:
        poster.post(split_receiver(URL), {}, b"{}")
    except PostingError as error:
        return error.trouble
    return None


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with receiving() as receiver:
        own = receiver.resolve("", 0)
        poster = Poster(resolve=lambda *_: [(socket.AF_INET, ("8.8.8.8", 443)), *own])
        assert failure(poster) == Trouble.ADDRESS
        assert receiver.connections == 0


def test_production_reaches_no_loopback_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What reaches it in these tests is an argument that only they give."""
    with receiving() as receiver:
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{receiver.port}")
        monkeypatch.setenv("MONEDA_WEBHOOKS", "on")
        assert failure(Poster(resolve=receiver.resolve)) == Trouble.ADDRESS
        assert receiver.connections == 0


def test_a_name_is_resolved_once_and_what_was_checked_is_connected_to() -> None:
    """A name server that says something public first, and this machine to whoever asks again."""
    with receiving() as receiver, receiving() as private:
        asked: list[str] = []

        def resolve(name: str, port: int) -> Sequence[SocketAddress]:
            asked.append(name)
            return (receiver if len(asked) == 1 else private).resolve(name, port)

        certificate, _ = make_certificate(NAME)
        poster = Poster(ssl.create_default_context(cafile=str(certificate)), resolve, lambda _: True)
        assert poster.post(split_receiver(URL), {}, b"{}") == 204
        assert (asked, receiver.connections, private.connections) == ([NAME], 1, 0)
        assert receiver.arrived[0].headers["host"] == NAME


def test_a_name_that_does_not_exist_is_said_to_be_unknown() -> None:
    def resolve(_name: str, _port: int) -> Sequence[SocketAddress]:
        raise socket.gaierror(-2, "Name or service not known")

    assert failure(Poster(resolve=resolve)) == Trouble.NAME
    assert failure(Poster(resolve=lambda *_: [])) == Trouble.NAME


def test_a_certificate_of_another_name_or_of_nobody_is_refused() -> None:
    with receiving(name="other.example.org") as other:
        certificate, _ = make_certificate("other.example.org")
        trusted = ssl.create_default_context(cafile=str(certificate))
        assert failure(Poster(trusted, other.resolve, lambda _: True)) == Trouble.CERTIFICATE
        assert other.arrived == []
    with receiving() as receiver:
        assert failure(Poster(None, receiver.resolve, lambda _: True)) == Trouble.CERTIFICATE
        assert receiver.arrived == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with receiving() as target:
        there = f"Location: https://{NAME}:{target.port}/x\r\nSet-Cookie: a=b\r\n"
        with receiving(reply(status, there)) as receiver:
            poster = make_poster(receiver)
            for _ in range(2):
                assert poster.post(split_receiver(URL), {}, b"{}") == status
            assert [("cookie" in each.headers) for each in receiver.arrived] == [False, False]
        assert target.connections == 0


def drip(what: bytes) -> Answer:
    """Answers without an end, a little at a time."""

    def answer(connection: ssl.SSLSocket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n" if what != b"1" else b"HTTP/1.1 ")
        while True:
            connection.sendall(what)
            time.sleep(0.01)

    return answer


@pytest.mark.parametrize("what", [b"x", b"1", b"X: y\r\n"])
def test_who_answers_without_an_end_is_left(what: bytes) -> None:
    """In the headers' time or by their size: neither depends on how quick the machine is."""
    with receiving(drip(what)) as receiver:
        assert failure(make_poster(receiver, timeout=1.0)) in (Trouble.TIME, Trouble.ANSWER)


def test_who_does_not_answer_is_left() -> None:
    with receiving(lambda connection: [connection.recv(1)].clear()) as receiver:
        assert failure(make_poster(receiver, timeout=0.5)) == Trouble.TIME


def test_an_endless_body_is_not_read() -> None:
    def answer(connection: ssl.SSLSocket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with receiving(answer) as receiver:
        assert make_poster(receiver).post(split_receiver(URL), {}, b"{}") == 200


def test_what_is_no_http_is_said_to_be_none() -> None:
    with receiving(lambda connection: connection.sendall(b"hello\r\n\r\n")) as receiver:
        assert failure(make_poster(receiver)) == Trouble.ANSWER


def test_a_request_can_be_cut_off() -> None:
    with receiving() as receiver:
        poster = make_poster(receiver, timeout=60)
        receiver.answer = lambda _connection: poster.cancel()
        assert failure(poster) == Trouble.CONNECTION
        assert failure(poster) == Trouble.CONNECTION
        assert len(receiver.arrived) == 1


def test_the_signature_is_that_of_the_specification() -> None:
    """The vector that Standard Webhooks' own libraries are tested with (`sign function works`)."""
    body = b'{"test": 2432232314}'
    headers = sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert dict(headers) == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }

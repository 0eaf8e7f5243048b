@main
struct Letsswitchd {
    static func main() async {}
}
